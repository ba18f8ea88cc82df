#include "cluster/resources.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace lifering_test {
namespace {

double median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
  return of[of.size() / 2];
}

}  // namespace

const resources::sample& resources::measure(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream file(folder + "/statm");
  double pages = 0;
  file >> pages >> pages;
  sample& seen = samples_.emplace_back();
  seen.mib = pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024 * 1024);
  std::error_code gone;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder + "/fd", gone)) {
    ++seen.handles;
  }
  return seen;
}

std::optional<resources::growth> resources::grown() const {
  const std::size_t quarter = samples_.size() / 4;
  if (quarter == 0) return std::nullopt;
  const auto part = [&](std::size_t from, auto what) {
    std::vector<double> values;
    for (std::size_t k = from; k < from + quarter; ++k)
      values.push_back(static_cast<double>(samples_[k].*what));
    return median(std::move(values));
  };
  const auto difference = [&](auto what) { return part(3 * quarter, what) - part(quarter, what); };
  return growth{difference(&sample::mib), difference(&sample::handles)};
}

}  // namespace lifering_test
