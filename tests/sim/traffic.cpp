#include "sim/traffic.hpp"

namespace lifering::sim {

void distribution::add(std::uint64_t value, std::uint64_t times) {
  samples_[value] += times;
  count_ += times;
  sum_ += value * times;
}

double distribution::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t distribution::max() const {
  return samples_.empty() ? 0 : samples_.rbegin()->first;
}

std::uint64_t distribution::percentile(unsigned hundredths) const {
  std::uint64_t seen = 0;
  for (const auto& [value, times] : samples_) {
    seen += times;
    if (seen * 100 >= count_ * hundredths) return value;
  }
  return 0;
}

traffic::traffic(cluster& of)
    : cluster_(of), packets_now_(of.size() + std::size_t{1}), bytes_now_(packets_now_.size()) {
  cluster_.world.after(std::chrono::seconds{1}, [this] { fold(); });
}

void traffic::on_sent(node_id from, const swim::packet&, std::size_t bytes, bool stream) {
  if (!stream) {
    ++packets_now_[from];
    ++totals_.packets;
  }
  bytes_now_[from] += bytes;
  totals_.bytes += bytes;
}

void traffic::fold() {
  for (node_id which = 1; which <= cluster_.size(); ++which) {
    if (cluster_.running(which)) {
      packets_.add(packets_now_[which]);
      bytes_.add(bytes_now_[which]);
      ++totals_.member_seconds;
    }
    packets_now_[which] = 0;
    bytes_now_[which] = 0;
  }
  cluster_.world.after(std::chrono::seconds{1}, [this] { fold(); });
}

}  // namespace lifering::sim
