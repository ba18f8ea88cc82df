// Routes each tenant to the same instance, and to the next in the tenant's order of preference when
// that one is gone, before anybody has noticed that it is.
//
//     tenant_router instance NAME GOSSIP_IP:PORT SERVICE_IP:PORT [SEED...]
//     tenant_router router NAME GOSSIP_IP:PORT [SEED...]
//
// An instance answers each line on its service port, a tenant's name, with its own name and how
// many requests of that tenant it has seen. The router reads tenants on stdin and prints what their
// instances answer. It is a member without weight: it sees the ring and owns nothing. Both end when
// stdin does.
#include <iostream>
#include <lifering/lifering.hpp>
#include <map>
#include <mutex>

#include "join.hpp"
#include "line_server.hpp"

namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

lifering::options member_options(const std::string& name, const std::string& bind) {
  auto options = lifering::options::local();
  options.name = name;
  options.bind = bind;
  options.cluster = "tenant_router";
  return options;
}

void run_instance(const words& given) {
  auto options = member_options(given[1], given[2]);
  options.service = given[3];
  lifering::cluster cluster(options);

  std::mutex mutex;
  std::map<std::string, int> requests;
  line_server server(options.service, [&](const std::string& tenant) {
    const std::lock_guard lock(mutex);
    return options.name + ' ' + tenant + ' ' + std::to_string(++requests[tenant]);
  });
  cluster.start();
  join_or_try_on(cluster, {given.begin() + 4, given.end()});
  std::cout << "ready" << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
  }
  std::error_code ignored;
  cluster.leave(ignored);
}

/// Asks the tenant's instance, or the one that takes over when it is gone.
std::string route(const lifering::cluster& cluster, const std::string& tenant) {
  for (const auto& instance : cluster.owners(tenant, 2)) {
    if (const auto answer = ask(instance.service, tenant, 500ms)) return *answer;
  }
  return "nobody serves " + tenant;
}

void run_router(const words& given) {
  auto options = member_options(given[1], given[2]);
  options.weight = *lifering::weight::from_thousandths(0);
  lifering::cluster cluster(options);
  cluster.start();
  join_or_try_on(cluster, {given.begin() + 3, given.end()});
  std::cout << "ready" << std::endl;

  for (std::string tenant; std::getline(std::cin, tenant);) {
    std::cout << route(cluster, tenant) << std::endl;
  }
  std::error_code ignored;
  cluster.leave(ignored);
}

}  // namespace

int main(int argc, char** argv) {
  const words given(argv + 1, argv + argc);
  try {
    if (given.size() >= 4 && given[0] == "instance") {
      run_instance(given);
    } else if (given.size() >= 3 && given[0] == "router") {
      run_router(given);
    } else {
      std::cerr << "usage: tenant_router instance NAME GOSSIP_IP:PORT SERVICE_IP:PORT [SEED...]\n"
                   "       tenant_router router NAME GOSSIP_IP:PORT [SEED...]\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "tenant_router: " << error.what() << '\n';
    return 2;
  }
}
