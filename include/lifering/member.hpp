// A member: one life of one named instance, as the cluster knows it; and lists of members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <lifering/config.hpp>
#include <lifering/endpoint.hpp>
#include <lifering/weight.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lifering {

/// What is believed of a member. Alive and suspect members are *present*: they are in the ring.
/// Failed and left ones are not, and are remembered for a while only so that late news of them
/// can't bring them back.
enum class member_state : std::uint8_t {
  alive,    ///< Answers, or was vouched for.
  suspect,  ///< Missed probes; it may still speak up. Keeps its keys.
  failed,   ///< Declared dead. Comes back by itself if it was only slow or cut off.
  left,     ///< Said goodbye. Final for this life.
};

/// Whether a present member wants keys. Gossiped with the member.
enum class member_phase : std::uint8_t {
  serving,   ///< Owns its share of the ring.
  joining,   ///< Here, but owns nothing until it calls ready().
  draining,  ///< Still answers, but gives its keys away.
};

LIFERING_API std::string_view to_string(member_state state) noexcept;
LIFERING_API std::string_view to_string(member_phase phase) noexcept;

/// A member as a plain value; a copy that no later change touches.
struct member {
  /// Stable across restarts, unique in the cluster, 1 to 255 bytes. The ring hashes this and
  /// nothing else of the member, so a restart on another address moves no key.
  std::string name;

  /// Which life of that name this is. A restart makes a greater one, which replaces the older life
  /// at once. Opaque but for its order.
  std::uint64_t epoch = 0;

  /// Orders claims within a life. Only the member itself raises it, to contradict a suspicion or
  /// to publish a change.
  std::uint64_t incarnation = 0;

  member_state state = member_state::alive;
  member_phase phase = member_phase::serving;

  /// Where gossip reaches it (UDP and TCP on one port).
  endpoint address;

  /// Its share of the ring against the others; 0 owns nothing (an observer).
  lifering::weight weight{};

  /// Where the application's own traffic reaches it: whatever the application put there, up to
  /// 255 bytes. Empty when it gave none.
  std::string service;

  /// Failure domain, up to 64 bytes; replicas spread over distinct zones first. May be empty.
  std::string zone;

  /// Bytes of the application, up to `limits.metadata` of its options.
  std::string metadata;

  bool present() const noexcept {
    return state == member_state::alive || state == member_state::suspect;
  }

  friend bool operator==(const member&, const member&) = default;
};

namespace cluster_detail {
using member_pointers = std::vector<std::shared_ptr<const member>>;
}  // namespace cluster_detail

/// All present members at one moment, sorted by name (unsigned bytes): an immutable snapshot that
/// no later change touches. A range of `const member&`. Cheap to copy; safe from any thread.
class LIFERING_API member_list {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = member;
    using difference_type = std::ptrdiff_t;
    using pointer = const member*;
    using reference = const member&;

    iterator() = default;
    reference operator*() const noexcept { return **at_; }
    pointer operator->() const noexcept { return at_->get(); }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    iterator operator++(int) noexcept { return iterator(at_++); }
    friend bool operator==(iterator, iterator) = default;

   private:
    friend class member_list;
    explicit iterator(const std::shared_ptr<const member>* at) noexcept : at_(at) {}
    const std::shared_ptr<const member>* at_ = nullptr;
  };

  /// No members.
  member_list();
  explicit member_list(std::shared_ptr<const cluster_detail::member_pointers> members) noexcept;

  iterator begin() const noexcept { return iterator(members_->data()); }
  iterator end() const noexcept { return iterator(members_->data() + members_->size()); }
  std::size_t size() const noexcept { return members_->size(); }
  bool empty() const noexcept { return members_->empty(); }
  const member& operator[](std::size_t index) const noexcept { return *(*members_)[index]; }

  /// The member of that name, or null. Lives as long as this list. Logarithmic.
  const member* find(std::string_view name) const noexcept;

 private:
  std::shared_ptr<const cluster_detail::member_pointers> members_;  ///< Never null.
};

}  // namespace lifering
