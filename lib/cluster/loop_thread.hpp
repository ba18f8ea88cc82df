// A named thread that runs an io_context: the library's own threads.
#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace lifering::cluster_detail {

/// One thread with one io_context. Signals are blocked on it, so that the program's handlers run on
/// the program's threads.
class loop_thread {
 public:
  /// Starts the thread. The system shows its name, of which it keeps 15 bytes. `on_throw` is told
  /// what a handler threw, after which the next handlers run; without it a throw ends the program,
  /// as from any thread.
  explicit loop_thread(std::string name, std::function<void(std::exception_ptr)> on_throw = {});

  /// As finish().
  ~loop_thread();

  asio::any_io_executor executor() const;

  bool is_this_thread() const noexcept;

  /// Lets the thread run what is ready, then end, and waits for that. Called on the thread itself
  /// it can't wait: the thread then ends by itself soon after.
  void finish();

 private:
  struct loop;
  std::shared_ptr<loop> loop_;
  std::thread thread_;
};

}  // namespace lifering::cluster_detail
