// When a flood may go on, and when it is over.
#include "hosts/pace.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace lifering_test {
namespace {

bool input_is_closed() {
  pollfd input{STDIN_FILENO, 0, 0};
  return ::poll(&input, 1, 0) > 0 && (input.revents & POLLHUP) != 0;
}

}  // namespace

std::size_t pace::allowance() {
  constexpr double worth_a_call = batch / 2;
  if (input_is_closed()) return 0;
  for (;;) {
    const double passed = elapsed();
    if (passed >= seconds_) return 0;
    if (passed >= next_report_) {
      report();
      next_report_ = passed + 0.1;
    }
    const double due = passed * rate_ - static_cast<double>(spent_);
    if (due >= worth_a_call) return std::min(static_cast<std::size_t>(due), batch);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void pace::report() const {
  std::printf("{\"sent\":%zu,\"seconds\":%.3f}\n", sent(), elapsed());
  std::fflush(stdout);
}

}  // namespace lifering_test
