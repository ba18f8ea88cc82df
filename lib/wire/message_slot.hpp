// A Protobuf message that is used again and again.
#pragma once

#include <google/protobuf/arena.h>

#include <array>
#include <cstddef>
#include <optional>

#include "wire/lifering.pb.h"

namespace lifering::wire {

/// One pb::Packet in an arena with a block of our own. Clearing keeps its parts and their strings,
/// so a steady packet costs no heap allocation, however long its names are. The message of a large
/// packet ends with it: a peer can't make us hold more than the block, and `kept_size_max` bytes in
/// each of the parts that fit it.
///
/// Neither copyable nor movable: the arena points into it. Not thread-safe.
class message_slot {
 public:
  message_slot() { start(); }
  message_slot(const message_slot&) = delete;
  message_slot& operator=(const message_slot&) = delete;

  /// The message, cleared.
  pb::Packet& begin() {
    message_->Clear();
    return *message_;
  }

  /// The packet of `size` bytes is done with.
  void end(std::size_t size) {
    if (size > kept_size_max || arena_->SpaceAllocated() > block_size) start();
  }

 private:
  /// The message of a larger packet is not kept.
  static constexpr std::size_t kept_size_max = 1500;

  /// For a datagram of usual size, whatever it is full of: the shortest news takes most.
  static constexpr std::size_t block_size = 16384;

  void start() {
    google::protobuf::ArenaOptions options;
    options.initial_block = block_.data();
    options.initial_block_size = block_size;
    arena_.emplace(options);
    message_ = google::protobuf::Arena::CreateMessage<pb::Packet>(&*arena_);
  }

  alignas(std::max_align_t) std::array<char, block_size> block_;
  std::optional<google::protobuf::Arena> arena_;
  pb::Packet* message_ = nullptr;
};

}  // namespace lifering::wire
