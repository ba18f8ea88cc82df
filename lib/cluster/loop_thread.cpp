#include "cluster/loop_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <utility>

#include "base/check.hpp"

namespace lifering::cluster_detail {
namespace {

/// Which loop this thread runs. A thread's id would not do: ids are given anew.
thread_local const void* loop_of_this_thread = nullptr;

/// Threads inherit the signal mask of the one that makes them.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    LIFERING_CHECK(pthread_sigmask(SIG_SETMASK, &all, &before_) == 0);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

/// Shared with the thread, which may outlive the loop_thread when that ends on it.
struct loop_thread::loop {
  std::string name;
  std::function<void(std::exception_ptr)> on_throw;
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};

  void run() {
    loop_of_this_thread = this;
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
    guarded([this] { context.run(); });
    // Stopped: what is ready still has its turn, what waits for a timer or a socket has not.
    context.restart();
    guarded([this] { context.poll(); });
  }

  void guarded(auto turn) {
    if (!on_throw) return turn();
    for (bool done = false; !done;) {
      try {
        turn();
        done = true;
      } catch (...) {
        on_throw(std::current_exception());
      }
    }
  }
};

loop_thread::loop_thread(std::string name, std::function<void(std::exception_ptr)> on_throw)
    : loop_(std::make_shared<loop>()) {
  loop_->name = std::move(name);
  loop_->on_throw = std::move(on_throw);
  const signals_blocked guard;
  thread_ = std::thread([loop = loop_] { loop->run(); });
}

loop_thread::~loop_thread() {
  finish();
}

asio::any_io_executor loop_thread::executor() const {
  return loop_->context.get_executor();
}

bool loop_thread::is_this_thread() const noexcept {
  return loop_of_this_thread == loop_.get();
}

void loop_thread::finish() {
  if (!thread_.joinable()) return;
  loop_->context.stop();
  if (is_this_thread()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace lifering::cluster_detail
