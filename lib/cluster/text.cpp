#include "cluster/text.hpp"

namespace lifering::cluster_detail {

problem too_long(errc code, std::string_view what, std::size_t size, std::size_t max) {
  return {code, "the " + std::string(what) + " has " + std::to_string(size) + " bytes; at most " +
                    std::to_string(max) + " would do"};
}

std::string in_words(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

}  // namespace lifering::cluster_detail
