// A real proxy in front of a cluster's instances: what nginx_test and haproxy_test share.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/agent.hpp"

namespace lifering_test {

/// The path of a program of the system; nothing where it isn't installed.
std::optional<std::string> find_program(const std::string& name);

/// A port on loopback that is free now.
int free_port();

/// An instance of a service: an agent, and a server of HTTP at the agent's name, whose answer to
/// everything is that name.
class instance {
 public:
  instance(const std::string& placement, const std::vector<std::string>& seeds);
  ~instance();

  const std::string& name() const { return name_; }
  agent& member() { return *agent_; }

  /// Ends both without any goodbye.
  void kill();

 private:
  void serve() const;

  int listener_ = -1;
  std::string name_;
  std::atomic<bool> over_{false};
  std::thread thread_;
  std::unique_ptr<agent> agent_;
};

using instances = std::vector<std::unique_ptr<instance>>;

/// The name of the instance that answered a request for a key through the proxy at a port.
std::string request(int port, const std::string& key);

/// The keys that are asked for.
std::vector<std::string> asked_keys();

/// Whether each of 500 requests lands where the members say that its key belongs.
bool all_land(int port, instances& all);

/// A process that ends its children when it is told to end.
class proxy {
 public:
  explicit proxy(const std::vector<std::string>& words) : process_(words) {}
  ~proxy();
  process& own() { return process_; }

 private:
  process process_;
};

/// What differs from one proxy to the other.
struct proxy_story {
  std::string kind;       ///< As proxy_upstreams takes it.
  std::string placement;  ///< As agents take it.

  /// Writes the proxy's configuration into a folder, and gives the command line that starts it,
  /// with the list of servers in FOLDER/servers.
  std::function<std::vector<std::string>(const std::string& folder, int port)> configure;
  int reload_signal;
};

/// Five instances behind a proxy: 500 requests land where the members say; one instance is killed,
/// and 500 requests do so again. Checks as it goes.
void tell(const proxy_story& story);

}  // namespace lifering_test
