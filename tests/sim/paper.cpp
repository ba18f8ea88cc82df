#include "sim/paper.hpp"
#include <stdexcept>
namespace lifering::sim {
int reproduce(std::string_view table, const paper_options&) {
  throw std::invalid_argument(std::string(table));
}
}  // namespace lifering::sim
