// A peer-to-peer cache. Every instance takes every request; the owner of the key keeps its value,
// and an instance that is not the owner passes the request on to it, once.
//
//     shard_cache NAME GOSSIP_IP:PORT SERVICE_IP:PORT [SEED...]
//
// On the service port a line is a request: `PUT KEY VALUE` or `GET KEY`. The answer names the
// instance that kept or looked: `NAME stored`, `NAME VALUE` or `NAME has nothing`. When membership
// changes, keys change owners and their values are gone, as a cache may; the next PUT brings them
// back. Ends when stdin does.
#include <iostream>
#include <lifering/lifering.hpp>
#include <mutex>
#include <unordered_map>

#include "join.hpp"
#include "line_server.hpp"

namespace {

using namespace std::chrono_literals;

class shard_cache {
 public:
  explicit shard_cache(const lifering::cluster& cluster) : cluster_(cluster) {}

  std::string answer(std::string line) {
    // The mark of a request that a peer has passed on. While views differ for a moment, two
    // instances may each take the other for the owner; the mark keeps them from playing ball.
    constexpr char passed_on = '>';
    if (line.starts_with(passed_on)) return look(line.substr(1));
    const std::string key = key_of(line);
    if (cluster_.owns(key)) return look(line);
    const auto owner = cluster_.owner(key);
    if (!owner) return "no key or no owner";
    return ask(owner->service, passed_on + line, 1s).value_or(owner->name + " does not answer");
  }

 private:
  static std::string key_of(const std::string& line) {
    const auto begin = line.find(' ');
    if (begin == std::string::npos) return {};
    return line.substr(begin + 1, line.find(' ', begin + 1) - begin - 1);
  }

  std::string look(const std::string& line) {
    const std::string key = key_of(line);
    const std::lock_guard lock(mutex_);
    if (line.starts_with("PUT ")) {
      values_[key] = line.substr(std::min(line.size(), 5 + key.size()));
      return name() + " stored";
    }
    const auto found = values_.find(key);
    return name() + ' ' + (found != values_.end() ? found->second : "has nothing");
  }

  std::string name() const { return cluster_.self().name; }

  const lifering::cluster& cluster_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> values_;
};

void run(const std::vector<std::string>& words) {
  auto options = lifering::options::local();
  options.name = words[0];
  options.bind = words[1];
  options.service = words[2];  // Peers find it in our record.
  options.cluster = "shard_cache";

  lifering::cluster cluster(options);
  shard_cache cache(cluster);
  line_server server(options.service, [&](std::string line) { return cache.answer(line); });
  cluster.start();
  join_or_try_on(cluster, {words.begin() + 3, words.end()});
  std::cout << "ready" << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
  }
  std::error_code ignored;
  cluster.leave(ignored);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 3) {
    std::cerr << "usage: shard_cache NAME GOSSIP_IP:PORT SERVICE_IP:PORT [SEED...]\n";
    return 2;
  }
  try {
    run(words);
  } catch (const std::exception& error) {
    std::cerr << "shard_cache: " << error.what() << '\n';
    return 2;
  }
}
