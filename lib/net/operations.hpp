// Keeps count of asynchronous operations, so that stopping knows when nothing is under way any
// more, and keeps their owner alive meanwhile.
#pragma once

#include <asio/post.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "net/io.hpp"

namespace lifering::net {

/// A member of the object whose operations it counts. One caller at a time: the owner's strand.
class operations {
 public:
  /// One operation under way. Lives in the operation's handler and ends with it, whether the
  /// handler runs or is destroyed with its executor.
  class token {
   public:
    token(token&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    token& operator=(token&&) = delete;
    ~token() {
      if (owner_ != nullptr) owner_->end();
    }

   private:
    friend class operations;
    explicit token(operations* owner) noexcept : owner_(owner) {}
    operations* owner_;
  };

  explicit operations(io::executor executor) : executor_(std::move(executor)) {}
  operations(const operations&) = delete;
  operations& operator=(const operations&) = delete;
  ~operations() { LIFERING_CHECK(count_ == 0); }

  /// The object to keep alive while anything is under way; without it the caller sees to that.
  void keep(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  token begin() {
    if (count_++ == 0) kept_ = owner_.lock();
    return token(this);
  }

  std::size_t count() const noexcept { return count_; }

  /// Posts `done` to the executor as soon as nothing is under way.
  void when_none(std::function<void()> done) {
    waiting_.push_back(std::move(done));
    if (count_ == 0) release();
  }

 private:
  void end() {
    if (--count_ == 0) release();
  }

  void release() {
    // The owner, and this object with it, may go when the function returns.
    const auto kept = std::move(kept_);
    for (auto& done : std::exchange(waiting_, {})) {
      if (done) asio::post(executor_, std::move(done));
    }
  }

  io::executor executor_;
  std::weak_ptr<void> owner_;
  std::shared_ptr<void> kept_;
  std::size_t count_ = 0;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace lifering::net
