// Finds the addresses of seeds.
//
// Names are looked up on threads of our own, one for each name up to a bound, since the system's
// lookup can neither be interrupted nor waits for several names at once. Asio's resolver would ask
// for one name after the other, and destroying its io_context would wait for the slowest; here a
// thread that still waits for a name server when the resolver closes is left alone, and what it
// finds is dropped.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <lifering/endpoint.hpp>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/time.hpp"
#include "net/io.hpp"
#include "net/name_service.hpp"
#include "net/operations.hpp"
#include "net/seed.hpp"

namespace lifering::net {

/// Which addresses the member's sockets can reach.
enum class address_families : std::uint8_t { v4, v6, both };

class resolver {
 public:
  /// Addresses taken of one seed. A name may stand for many members (a Kubernetes headless
  /// service).
  static constexpr std::size_t addresses_max = 32;

  /// Threads at once; further names wait for one of them.
  static constexpr std::size_t threads_max = 32;

  using handler = std::function<void(const std::string& seed, std::vector<endpoint> addresses,
                                     std::error_code error)>;

  /// How long a seed waits for more addresses when some are there: those of a service's hosts whose
  /// name servers are slow or silent.
  static constexpr std::chrono::milliseconds patience_for_more{300};

  /// As name_service has them. Called on several threads, and maybe after the resolver is gone.
  struct lookups {
    std::function<std::error_code(const std::string& host, std::vector<endpoint>& out)> host;
    std::function<std::error_code(const std::string& name, std::vector<service_host>& out)> service;
  };

  resolver(io::executor executor, address_families families, operations& pending, handler resolved,
           lookups look_up);
  resolver(io::executor executor, address_families families, operations& pending, handler resolved,
           const name_service& names);
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;
  ~resolver();

  /// Answered once, from a later turn: addresses, or why there are none.
  void resolve(const std::string& seed_text, base::duration deadline);

  /// Nothing is answered any more.
  void close();

  /// Names that are being looked up.
  std::size_t waiting() const noexcept { return requests_.size(); }

 private:
  struct question;
  struct request;
  struct shared_state;

  void answer_later(const std::string& seed_text, std::vector<endpoint> addresses,
                    std::error_code error);
  void ask_thread(question asked);
  void found_service(std::uint64_t id, const std::vector<service_host>& hosts,
                     std::error_code error);
  void found_host(std::uint64_t id, std::size_t part, std::vector<endpoint> found,
                  std::error_code error);
  void answer(std::uint64_t id, std::error_code error);
  void timed_out(std::uint64_t id);
  bool is_reachable(const endpoint& address) const noexcept;
  static void work(const std::shared_ptr<shared_state>& shared);

  io::executor executor_;
  const address_families families_;
  operations& pending_;
  handler resolved_;
  std::map<std::uint64_t, request> requests_;
  std::uint64_t next_id_ = 0;
  std::shared_ptr<shared_state> shared_;
};

}  // namespace lifering::net
