// A value that nearly all objects of a kind are without.
#pragma once

#include <memory>
#include <utility>

namespace lifering::base {

/// A T that is nearly always T(): as large as a pointer, and no larger before it is something else.
template <class T>
class seldom {
 public:
  seldom() = default;
  seldom(const seldom& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  seldom(seldom&&) noexcept = default;
  seldom& operator=(seldom other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }
  seldom& operator=(T value) {
    held_ = value == T() ? nullptr : std::make_unique<T>(std::move(value));
    return *this;
  }
  ~seldom() = default;

  const T& operator*() const noexcept {
    static const T usual{};
    return held_ ? *held_ : usual;
  }
  const T* operator->() const noexcept { return &**this; }

  friend bool operator==(const seldom& a, const seldom& b) { return *a == *b; }

 private:
  std::unique_ptr<const T> held_;
};

}  // namespace lifering::base
