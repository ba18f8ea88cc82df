#include "wire/vouchers.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <variant>
#include <vector>

#include "wire/lifering.pb.h"

namespace lifering::wire {
namespace {

const std::vector<swim::view_row>* rows_of(const swim::body& body) {
  if (const auto* view = std::get_if<swim::view_rows>(&body)) return &view->rows;
  if (const auto* delta = std::get_if<swim::view_delta>(&body)) return &delta->rows;
  return nullptr;
}

/// Each record of the packet, in the order of its voucher, and whether the life is said to be here.
template <class Visit>
void for_each_record(const swim::packet& in, Visit visit) {
  for (const auto& each : in.updates) {
    if (each.kind == swim::update_kind::alive) visit(*each.subject, true);
  }
  if (const auto* const rows = rows_of(in.body)) {
    for (const auto& row : *rows)
      visit(*row.subject, row.present());
  }
}

constexpr std::size_t head_size = 2 + 3;  // The field's tag, and a length.

}  // namespace

void write_vouchers(const swim::packet& from, const replay_guard& ours, std::size_t size_max,
                    pb::Packet& to) {
  std::size_t size = head_size;
  int zeros = 0;  // Before the next number; those at the end aren't written.
  for_each_record(from, [&](const swim::record& subject, bool is_here) {
    const auto number = is_here ? ours.last_proven(subject.name, subject.epoch) : 0;
    ++zeros;
    if (number == 0) return;
    const std::size_t more = static_cast<std::size_t>(zeros - 1) +
                             google::protobuf::io::CodedOutputStream::VarintSize64(number);
    if (size + more > size_max) return;
    size += more;
    while (--zeros > 0)
      to.add_heard(0);
    to.add_heard(number);
  });
}

void believe_vouchers(const swim::packet& from, std::span<const std::uint64_t> numbers,
                      replay_guard& ours) {
  if (numbers.empty()) return;
  std::size_t next = 0;
  for_each_record(from, [&](const swim::record& subject, bool is_here) {
    const auto number = next < numbers.size() ? numbers[next] : 0;
    ++next;
    if (is_here && number != 0) ours.vouch(subject.name, subject.epoch, number);
  });
}

}  // namespace lifering::wire
