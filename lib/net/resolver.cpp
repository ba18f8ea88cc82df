#include "net/resolver.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <deque>
#include <lifering/error.hpp>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "net/name_service.hpp"

namespace lifering::net {

struct resolver::request {
  std::string seed_text;
  std::uint16_t port;
  io::timer deadline;
};

/// What the threads see. Everything but `look_up` is guarded by the mutex; `owner` and `executor`
/// are set while the resolver is open, and nothing is posted after that.
struct resolver::shared_state {
  std::mutex mutex;
  resolver* owner = nullptr;
  std::optional<io::executor> executor;
  std::deque<std::pair<std::uint64_t, std::string>> waiting;
  std::size_t threads = 0;
  lookup look_up;
};

namespace {

/// The application's signals are for its own threads.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

std::error_code wrong_family() {
  return std::make_error_code(std::errc::address_family_not_supported);
}

}  // namespace

resolver::resolver(io::executor executor, address_families families, operations& pending,
                   handler resolved, lookup look_up)
    : executor_(std::move(executor)),
      families_(families),
      pending_(pending),
      resolved_(std::move(resolved)),
      shared_(std::make_shared<shared_state>()) {
  shared_->owner = this;
  shared_->executor = executor_;
  shared_->look_up = std::move(look_up);
}

resolver::~resolver() {
  close();
}

void resolver::close() {
  for (auto& [id, each] : requests_)
    each.deadline.cancel();
  requests_.clear();
  const std::lock_guard lock(shared_->mutex);
  shared_->owner = nullptr;
  shared_->executor.reset();
  shared_->waiting.clear();
}

void resolver::resolve(const std::string& seed_text, base::duration deadline) {
  const auto parsed = seed::parse(seed_text);
  if (!parsed) return answer_later(seed_text, {}, errc::invalid_seed);
  if (parsed->address) {
    if (is_reachable(*parsed->address)) return answer_later(seed_text, {*parsed->address}, {});
    return answer_later(seed_text, {}, wrong_family());
  }
  const auto id = ++next_id_;
  // A service says at which ports it is.
  const std::uint16_t port = parsed->is_service ? 0 : parsed->port;
  const auto [added, is_new] =
      requests_.emplace(id, request{seed_text, port, io::timer(executor_, deadline)});
  added->second.deadline.async_wait([this, id, token = pending_.begin()](std::error_code error) {
    if (!error) timed_out(id);
  });
  ask_thread(id, parsed->is_service ? std::string(service_prefix) + parsed->host : parsed->host);
}

void resolver::answer_later(const std::string& seed_text, std::vector<endpoint> addresses,
                            std::error_code error) {
  asio::post(executor_, [this, seed_text, addresses = std::move(addresses), error,
                         token = pending_.begin()]() mutable {
    const bool is_open = shared_->owner != nullptr;  // Changes on this executor alone.
    if (is_open) resolved_(seed_text, std::move(addresses), error);
  });
}

void resolver::ask_thread(std::uint64_t id, const std::string& host) {
  std::unique_lock lock(shared_->mutex);
  shared_->waiting.emplace_back(id, host);
  if (shared_->threads == threads_max) return;
  ++shared_->threads;
  lock.unlock();
  try {
    const signals_blocked blocked;
    std::thread([shared = shared_] { work(shared); }).detach();
  } catch (const std::system_error&) {
    // No thread to be had. Those that run take the name; without any its deadline answers.
    lock.lock();
    --shared_->threads;
  }
}

void resolver::work(const std::shared_ptr<shared_state>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->waiting.empty()) {
    const auto [id, host] = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    lock.unlock();
    std::vector<endpoint> found;
    const auto error = shared->look_up(host, found);
    lock.lock();
    if (shared->owner == nullptr) continue;
    asio::post(*shared->executor, [shared, id = id, found = std::move(found), error] {
      // On the owner's executor, where it closes too: it is there, or it is gone for good.
      if (shared->owner != nullptr) shared->owner->looked_up(id, found, error);
    });
  }
  --shared->threads;
}

void resolver::looked_up(std::uint64_t id, const std::vector<endpoint>& found,
                         std::error_code error) {
  auto node = requests_.extract(id);
  if (node.empty()) return;
  request& asked = node.mapped();
  asked.deadline.cancel();
  std::vector<endpoint> addresses;
  for (endpoint each : found) {
    if (asked.port != 0) each.port = asked.port;
    const bool is_new = std::find(addresses.begin(), addresses.end(), each) == addresses.end();
    if (is_new && is_reachable(each) && addresses.size() < addresses_max) addresses.push_back(each);
  }
  if (!error && addresses.empty()) error = wrong_family();
  resolved_(asked.seed_text, std::move(addresses), error);
}

void resolver::timed_out(std::uint64_t id) {
  auto node = requests_.extract(id);
  if (node.empty()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    std::erase_if(shared_->waiting, [id](const auto& each) { return each.first == id; });
  }
  resolved_(node.mapped().seed_text, {}, errc::timed_out);
}

bool resolver::is_reachable(const endpoint& address) const noexcept {
  return families_ == address_families::both ||
         address.is_v4() == (families_ == address_families::v4);
}

}  // namespace lifering::net
