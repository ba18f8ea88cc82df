#include "net/resolver.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <lifering/error.hpp>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "net/name_service.hpp"

namespace lifering::net {

/// What a thread is to look up: a service, or the host that is a part of a seed.
struct resolver::question {
  std::uint64_t id = 0;
  std::string name;
  bool is_service = false;
  std::size_t part = 0;
};

struct resolver::request {
  /// A host and its port, with what was found of it.
  struct part {
    std::uint16_t port = 0;
    std::vector<endpoint> found;
  };
  std::string seed_text;
  io::timer deadline;
  std::vector<part> parts{};  ///< One of a host, many of a service: the preferred first.
  std::size_t waiting = 0;    ///< Of them, those that are still looked up.
  bool has_some = false;
  std::error_code error{};
};

/// What the threads see. Everything but `look_up` is guarded by the mutex; `owner` and `executor`
/// are set while the resolver is open, and nothing is posted after that.
struct resolver::shared_state {
  std::mutex mutex;
  resolver* owner = nullptr;
  std::optional<io::executor> executor;
  std::list<question> waiting;
  std::size_t threads = 0;
  lookups look_up;
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
                   handler resolved, lookups look_up)
    : executor_(std::move(executor)),
      families_(families),
      pending_(pending),
      resolved_(std::move(resolved)),
      shared_(std::make_shared<shared_state>()) {
  shared_->owner = this;
  shared_->executor = executor_;
  shared_->look_up = std::move(look_up);
}

resolver::resolver(io::executor executor, address_families families, operations& pending,
                   handler resolved, const name_service& names)
    : resolver(std::move(executor), families, pending, std::move(resolved),
               {[names](const std::string& host, std::vector<endpoint>& out) {
                  return names.look_up(host, out);
                },
                [names](const std::string& name, std::vector<service_host>& out) {
                  return names.look_up_service(name, out);
                }}) {}

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
  const auto [added, is_new] =
      requests_.emplace(id, request{seed_text, io::timer(executor_, deadline)});
  added->second.deadline.async_wait([this, id, token = pending_.begin()](std::error_code error) {
    if (!error) timed_out(id);
  });
  if (!parsed->is_service) {
    added->second.parts.push_back({parsed->port, {}});
    added->second.waiting = 1;
  }
  ask_thread({id, parsed->host, parsed->is_service, 0});
}

void resolver::answer_later(const std::string& seed_text, std::vector<endpoint> addresses,
                            std::error_code error) {
  asio::post(executor_, [this, seed_text, addresses = std::move(addresses), error,
                         token = pending_.begin()]() mutable {
    const bool is_open = shared_->owner != nullptr;  // Changes on this executor alone.
    if (is_open) resolved_(seed_text, std::move(addresses), error);
  });
}

void resolver::ask_thread(question asked) {
  std::unique_lock lock(shared_->mutex);
  shared_->waiting.push_back(std::move(asked));
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
    const question asked = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    lock.unlock();
    std::vector<endpoint> found;
    std::vector<service_host> hosts;
    const auto error = asked.is_service ? shared->look_up.service(asked.name, hosts)
                                        : shared->look_up.host(asked.name, found);
    lock.lock();
    if (shared->owner == nullptr) continue;
    asio::post(*shared->executor, [shared, asked, found = std::move(found),
                                   hosts = std::move(hosts), error]() mutable {
      // On the owner's executor, where it closes too: it is there, or it is gone for good.
      if (shared->owner == nullptr) return;
      if (asked.is_service) {
        shared->owner->found_service(asked.id, hosts, error);
      } else {
        shared->owner->found_host(asked.id, asked.part, std::move(found), error);
      }
    });
  }
  --shared->threads;
}

void resolver::found_service(std::uint64_t id, const std::vector<service_host>& hosts,
                             std::error_code error) {
  const auto known = requests_.find(id);
  if (known == requests_.end()) return;
  if (error) return answer(id, error);
  auto& asked = known->second;
  asked.waiting = hosts.size();
  for (const auto& each : hosts) {
    asked.parts.push_back({each.port, {}});
    ask_thread({id, each.host, false, asked.parts.size() - 1});
  }
}

void resolver::found_host(std::uint64_t id, std::size_t part, std::vector<endpoint> found,
                          std::error_code error) {
  const auto known = requests_.find(id);
  if (known == requests_.end()) return;
  auto& asked = known->second;
  if (error) asked.error = error;
  const bool has_some = asked.has_some;
  asked.has_some = has_some || !found.empty();
  asked.parts[part].found = std::move(found);
  if (--asked.waiting == 0) return answer(id, asked.error);
  if (has_some || !asked.has_some) return;
  // One silent name server must not cost the seed its deadline. Whom it knows is found another
  // time.
  const auto soon = std::chrono::steady_clock::now() + patience_for_more;
  if (asked.deadline.expiry() <= soon) return;
  asked.deadline.expires_at(soon);
  asked.deadline.async_wait([this, id, token = pending_.begin()](std::error_code failed) {
    if (!failed) timed_out(id);
  });
}

void resolver::answer(std::uint64_t id, std::error_code error) {
  auto node = requests_.extract(id);
  if (node.empty()) return;
  request& asked = node.mapped();
  asked.deadline.cancel();
  std::vector<endpoint> addresses;
  for (const auto& part : asked.parts) {
    for (endpoint each : part.found) {
      each.port = part.port;
      const bool is_new = std::find(addresses.begin(), addresses.end(), each) == addresses.end();
      if (is_new && is_reachable(each) && addresses.size() < addresses_max) {
        addresses.push_back(each);
      }
    }
  }
  if (!addresses.empty()) error = {};
  if (addresses.empty() && !error) error = wrong_family();
  resolved_(asked.seed_text, std::move(addresses), error);
}

void resolver::timed_out(std::uint64_t id) {
  if (!requests_.contains(id)) return;
  {
    const std::lock_guard lock(shared_->mutex);
    std::erase_if(shared_->waiting, [id](const auto& each) { return each.id == id; });
  }
  answer(id, errc::timed_out);
}

bool resolver::is_reachable(const endpoint& address) const noexcept {
  return families_ == address_families::both ||
         address.is_v4() == (families_ == address_families::v4);
}

}  // namespace lifering::net
