// HAProxy in front of a cluster: each request lands on the member that owns its key.
#include <signal.h>

#include <fstream>
#include <iostream>

#include "cluster/proxy.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

TEST_CASE("HAProxy sends each key to the member that owns it, also after one was killed",
          "[proxy]") {
  const auto haproxy = find_program("haproxy");
  if (!haproxy) {
    std::cout << "SKIPPED: haproxy is not installed (apt-get install haproxy)\n";
    return;
  }
  proxy_story story{"haproxy", "haproxy:number=name", {}, SIGUSR2};
  story.configure = [&haproxy](const std::string& folder, int port) {
    std::ofstream(folder + "/haproxy.cfg")
        << "global\n  maxconn 200\ndefaults\n  mode http\n  timeout connect 10s\n"
           "  timeout client 10s\n  timeout server 10s\nfrontend front\n  bind 127.0.0.1:"
        << port << "\n  default_backend lifering\n";
    // -W: a master that a signal makes read its files again.
    return std::vector<std::string>{*haproxy,           "-W", "-f", folder + "/haproxy.cfg", "-f",
                                    folder + "/servers"};
  };
  tell(story);
}
