// A user's program, as far as linking can tell: a ring of its own, a cluster of one on its own
// io_context, and an error of the library that it knows again on its side.
#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdio>
#include <lifering/lifering.hpp>
#include <system_error>

namespace {

bool ring_places_keys() {
  lifering::hash_ring ring;
  for (const char* node : {"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"})
    ring.add({node});
  return ring.owner("user:12345") == "10.0.0.2:6379";
}

bool ring_places_keys_as_others_do() {
#if defined(LIFERING_COMPAT)
  lifering::hash_ring proxy{lifering::compat::parse("nginx")};
  for (const char* node : {"127.0.0.1:9001", "127.0.0.2:9001", "127.0.0.3:9001"})
    proxy.add({node});
  lifering::hash_ring client{lifering::compat::ketama{}.placement()};  // Links libmd.
  for (const char* node : {"10.0.1.1:11211", "10.0.1.2:11211", "10.0.1.3:11211"})
    client.add({node});
  return proxy.owner("key-1") == "127.0.0.2:9001" && client.owner("key-1") == "10.0.1.3:11211";
#else
  return true;
#endif
}

bool errors_are_known_again() {
  lifering::hash_ring ring;
  try {
    ring.remove("nobody");
  } catch (const std::system_error& error) {
    return error.code() == lifering::errc::unknown_node;
  }
  return false;
}

bool cluster_of_one_owns_and_leaves() {
  auto options = lifering::options::local();
  options.name = "consumer";
  options.cluster = "package test";
  options.bind = "127.0.0.1:0";
  options.level = lifering::log_level::off;

  asio::io_context context;
  lifering::cluster cluster(context, options);
  cluster.start();
  bool owned = false;
  bool left = false;
  asio::post(context, [&] { owned = cluster.owns("user:12345"); });
  cluster.async_leave([&](std::error_code error, std::size_t) {
    left = !error;
    cluster.stop();
  });
  context.run();
  return owned && left;
}

bool holds(const char* what, bool (*rule)()) {
  const bool held = rule();
  if (!held) std::fprintf(stderr, "not so: %s\n", what);
  return held;
}

}  // namespace

int main() {
  const bool all = holds("a ring places keys", ring_places_keys) &&
                   holds("a ring places keys as others do", ring_places_keys_as_others_do) &&
                   holds("errors are known again", errors_are_known_again) &&
                   holds("a cluster of one owns all and leaves", cluster_of_one_owns_and_leaves);
  return all ? 0 : 1;
}
