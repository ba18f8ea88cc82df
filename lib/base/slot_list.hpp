// A list through things that stand in numbered slots.
#pragma once

#include <limits>

namespace lifering::base {

/// A slot's neighbours, kept by what stands in it.
template <class Slot>
struct slot_links {
  static constexpr Slot none = std::numeric_limits<Slot>::max();

  Slot before = none;
  Slot after = none;
};

/// Keeps its two ends alone, so it asks back for the rest: `links_of(slot)` is a reference to the
/// slot's links. All is O(1).
///
/// Not thread-safe.
template <class Slot>
class slot_list {
 public:
  static constexpr Slot none = slot_links<Slot>::none;

  Slot front() const noexcept { return front_; }
  Slot back() const noexcept { return back_; }

  template <class LinksOf>
  void push_front(Slot slot, LinksOf links_of) noexcept {
    links_of(slot) = {none, front_};
    (front_ == none ? back_ : links_of(front_).before) = slot;
    front_ = slot;
  }

  template <class LinksOf>
  void push_back(Slot slot, LinksOf links_of) noexcept {
    links_of(slot) = {back_, none};
    (back_ == none ? front_ : links_of(back_).after) = slot;
    back_ = slot;
  }

  template <class LinksOf>
  void erase(Slot slot, LinksOf links_of) noexcept {
    const slot_links<Slot> links = links_of(slot);
    (links.before == none ? front_ : links_of(links.before).after) = links.after;
    (links.after == none ? back_ : links_of(links.after).before) = links.before;
  }

 private:
  Slot front_ = none;
  Slot back_ = none;
};

}  // namespace lifering::base
