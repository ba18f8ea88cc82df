#include <iostream>
#include <lifering/lifering.hpp>

int main(int argc, char** argv) try {
  if (argc < 3) return std::cerr << "usage: hello_cluster NAME IP:PORT [SEED...]\n", 2;
  auto options = lifering::options::lan();
  options.name = argv[1];
  options.bind = argv[2];
  options.cluster = "hello";
  const std::vector<std::string> seeds(argv + 3, argv + argc);
  for (const auto& seed : seeds)
    throw_if(lifering::validate_seed(seed));

  lifering::cluster cluster(options);
  cluster.on_event([](const lifering::event& event) {
    if (const auto* change = std::get_if<lifering::member_event>(&event)) {
      std::cout << change->subject.name << ' ' << to_string(change->kind) << std::endl;
    }
  });
  cluster.start();
  std::error_code error;
  cluster.join(seeds, error);
  if (error) std::cerr << error.message() << "; trying on\n";

  for (std::string key; std::getline(std::cin, key);) {  // Who owns it? No lock, no network.
    if (const auto* owner = cluster.ring().owner(key)) std::cout << owner->name << std::endl;
  }
  cluster.leave(error);
} catch (const std::exception& wrong) {
  return std::cerr << "hello_cluster: " << wrong.what() << '\n', 2;
}
