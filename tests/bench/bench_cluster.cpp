// A whole cluster in one process, on loopback: what joining, idling and a crash cost. The same work
// as a program on hashicorp/memberlist does; bench_cluster.sh runs both and puts them side by side.
//
//     bench_cluster [-n 100] [-idle 15] [-kills 3] [-mute 0] [-mass 0] [-port 20000] [-limit 120]
//     [-seal 0]
//
// All members join the first; with `-seal 1` every packet is sealed, by the keys of one keyring, as
// an application shares it among the clusters that it is in. One JSON object a line:
//
//     join   seconds from the first join to the moment when every member lists all n, and how many
//            rings each has published by then, its own first one included
//     idle   a core's share, packets and bytes (as the loopback device counts them) per member and
//            second; resident memory per member, and what of it is the ring's table
//     crash  one member ends without a word: seconds until the first and the last survivor
//            reported it. Its host refuses what is sent to it; after `-mute`, it swallows it
//     mass   the last `mass` members end together: seconds until every survivor reported them all
//     end    failures reported about members that had not ended
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <lifering/lifering.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct plan {
  unsigned n = 100;
  unsigned idle = 15;  ///< Seconds.
  unsigned kills = 3;  ///< One after the other.
  unsigned mute = 0;   ///< Further ones, whose hosts are silent afterwards.
  unsigned mass = 0;
  unsigned port = 20000;
  unsigned limit = 120;  ///< Seconds, for anything that is waited for.
  unsigned seal = 0;     ///< Whether packets are sealed.
};

double seconds_since(clock_type::time_point then) {
  return std::chrono::duration<double>(clock_type::now() - then).count();
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct traffic {
  double bytes = 0;
  double packets = 0;
};

/// What the loopback device of this network namespace has received so far.
traffic loopback() {
  traffic result;
  std::ifstream file("/proc/net/dev");
  for (std::string word; file >> word;) {
    if (word == "lo:") file >> result.bytes >> result.packets;
  }
  return result;
}

double resident_kib() {
  double pages = 0;
  std::ifstream file("/proc/self/statm");
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

std::string name_of(unsigned i) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "node-%04u", i);
  return text.data();
}

/// What one member has reported.
class observer {
 public:
  void note(const lifering::event& event) {
    const auto* about = std::get_if<lifering::member_event>(&event);
    if (about == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (about->kind == lifering::event_kind::joined) ++present_;
    if (about->kind == lifering::event_kind::failed || about->kind == lifering::event_kind::left) {
      --present_;
      lost_.try_emplace(about->subject.name, clock_type::now());
    }
  }

  int present() const {
    const std::lock_guard lock(mutex_);
    return present_;
  }

  std::map<std::string, clock_type::time_point> lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

 private:
  mutable std::mutex mutex_;
  int present_ = 1;  // itself
  std::map<std::string, clock_type::time_point> lost_;
};

/// Takes a dead member's port and answers nothing: to its peers, as if its host were gone.
struct mute_host {
  mute_host(asio::io_context& context, unsigned port)
      : datagrams(context, {asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port)}),
        streams(context, {asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port)}) {}

  asio::ip::udp::socket datagrams;
  asio::ip::tcp::acceptor streams;
};

class village {
 public:
  explicit village(const plan& plan);
  ~village();

  bool join();
  void idle();
  void crash(bool mute);
  void mass();
  void end();

 private:
  struct member {
    std::unique_ptr<observer> sees = std::make_unique<observer>();
    std::unique_ptr<lifering::cluster> cluster;
    bool ended = false;
  };

  void end_member(std::size_t index);
  void await_loss(const char* what, const std::vector<std::string>& victims,
                  clock_type::time_point since);

  plan plan_;
  asio::io_context context_{1};  ///< One thread serves them all.
  asio::executor_work_guard<asio::io_context::executor_type> work_ = make_work_guard(context_);
  std::vector<member> members_;
  std::thread thread_;
  std::vector<std::unique_ptr<mute_host>> mutes_;
  std::set<std::string> ended_;
  std::size_t next_;
};

std::shared_ptr<lifering::keyring> keys_with(std::string_view key) {
  auto keys = std::make_shared<lifering::keyring>();
  lifering::throw_if(keys->add(key));
  lifering::throw_if(keys->set_mode(lifering::seal_mode::require));
  return keys;
}

village::village(const plan& plan) : plan_(plan), members_(plan.n), next_(plan.n) {
  thread_ = std::thread([this] { context_.run(); });
  std::array<char, lifering::key_text_size> text{};
  lifering::generate_key(text);
  const auto keys = keys_with({text.data(), text.size()});
  for (unsigned i = 0; i < plan_.n; ++i) {
    auto options = lifering::options::lan();
    options.name = name_of(i);
    options.cluster = "bench";
    options.bind = "127.0.0.1:" + std::to_string(plan_.port + i);
    options.level = lifering::log_level::off;
    options.limits.streams_per_source = options.limits.streams;  // All come from one address.
    if (plan_.seal != 0) options.keys = keys;
    auto& one = members_[i];
    one.cluster = std::make_unique<lifering::cluster>(context_, options);
    one.cluster->on_event([sees = one.sees.get()](const lifering::event& e) { sees->note(e); });
    one.cluster->start();
  }
}

village::~village() {
  for (auto& each : members_)
    each.cluster->stop();
  work_.reset();
  context_.stop();
  thread_.join();
}

bool village::join() {
  const auto since = clock_type::now();
  const double used = processor_seconds();
  const std::string seed = "127.0.0.1:" + std::to_string(plan_.port);
  for (std::size_t i = 1; i < members_.size(); ++i) {
    members_[i].cluster->async_join({seed}, std::chrono::seconds(plan_.limit),
                                    [](std::error_code, std::size_t) {});
  }
  const double issued = seconds_since(since);
  const auto complete = [&] {
    return std::ranges::all_of(members_, [&](const member& each) {
      return each.sees->present() == static_cast<int>(plan_.n);
    });
  };
  bool all = complete();
  while (!all && seconds_since(since) < plan_.limit) {
    std::this_thread::sleep_for(milliseconds(1));
    all = complete();
  }
  const double took = seconds_since(since);
  std::uint64_t rings = 0;
  for (const auto& each : members_)
    rings += each.cluster->ring().version();
  std::printf(
      R"({"what":"join","n":%u,"issued_s":%.4f,"all_see_all_s":%.4f,"complete":%s,"cpu_s":%.3f,)"
      R"("rings":%.2f})"
      "\n",
      plan_.n, issued, took, all ? "true" : "false", processor_seconds() - used,
      static_cast<double>(rings) / plan_.n);
  std::fflush(stdout);
  return all;
}

void village::idle() {
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const double used = processor_seconds();
  const auto before = loopback();
  std::this_thread::sleep_for(std::chrono::seconds(plan_.idle));
  const auto after = loopback();
  const double per = static_cast<double>(plan_.idle) * plan_.n;
  const double ring_kib = static_cast<double>(members_[0].cluster->ring().bytes()) / 1024;
  std::printf(R"({"what":"idle","cpu_percent":%.5f,"bytes_per_s":%.1f,"packets_per_s":%.3f,)"
              R"("rss_kib":%.1f,"ring_kib":%.1f})"
              "\n",
              100 * (processor_seconds() - used) / per, (after.bytes - before.bytes) / per,
              (after.packets - before.packets) / per, resident_kib() / plan_.n, ring_kib);
  std::fflush(stdout);
}

void village::end_member(std::size_t index) {
  ended_.insert(name_of(static_cast<unsigned>(index)));
  members_[index].ended = true;
  members_[index].cluster->stop();
}

void village::crash(bool mute) {
  const auto since = clock_type::now();
  end_member(--next_);
  if (mute) {
    mutes_.push_back(
        std::make_unique<mute_host>(context_, plan_.port + static_cast<unsigned>(next_)));
  }
  await_loss(mute ? "mute" : "crash", {name_of(static_cast<unsigned>(next_))}, since);
}

void village::mass() {
  const auto since = clock_type::now();
  std::vector<std::string> victims;
  for (unsigned i = 0; i < plan_.mass; ++i) {
    end_member(--next_);
    victims.push_back(name_of(static_cast<unsigned>(next_)));
  }
  await_loss("mass", victims, since);
}

void village::await_loss(const char* what, const std::vector<std::string>& victims,
                         clock_type::time_point since) {
  double first = 0;
  double last = 0;
  bool all = false;
  while (!all && seconds_since(since) < plan_.limit) {
    std::this_thread::sleep_for(milliseconds(2));
    first = plan_.limit;
    last = 0;
    all = true;
    for (const auto& each : members_) {
      if (each.ended) continue;
      const auto lost = each.sees->lost();
      for (const auto& victim : victims) {
        const auto seen = lost.find(victim);
        all = all && seen != lost.end();
        if (seen == lost.end()) continue;
        const double s = std::chrono::duration<double>(seen->second - since).count();
        first = std::min(first, s);
        last = std::max(last, s);
      }
    }
  }
  std::printf(R"({"what":"%s","size":%zu,"first_s":%.4f,"all_s":%.4f,"complete":%s})"
              "\n",
              what, victims.size(), first, last, all ? "true" : "false");
  std::fflush(stdout);
}

void village::end() {
  std::size_t wrong = 0;
  for (const auto& each : members_) {
    if (each.ended) continue;
    for (const auto& [name, when] : each.sees->lost())
      wrong += ended_.contains(name) ? 0U : 1U;
  }
  std::printf(R"({"what":"end","wrong_failures":%zu})"
              "\n",
              wrong);
  std::fflush(stdout);  // A thousand members take a while to go.
}

/// False, with a sentence on stderr, when the words are wrong.
bool read_plan(int argc, char** argv, plan& plan) {
  const std::map<std::string_view, unsigned*> flags{
      {"-n", &plan.n},       {"-idle", &plan.idle}, {"-kills", &plan.kills}, {"-mute", &plan.mute},
      {"-mass", &plan.mass}, {"-port", &plan.port}, {"-limit", &plan.limit}, {"-seal", &plan.seal}};
  for (int i = 1; i < argc; i += 2) {
    const std::string_view word = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    const auto flag = flags.find(word);
    const auto* const end = value.data() + value.size();
    if (flag == flags.end() || std::from_chars(value.data(), end, *flag->second).ptr != end ||
        value.empty()) {
      std::fprintf(stderr,
                   "bench_cluster: %s wants a whole number after one of -n -idle -kills "
                   "-mute -mass -port -limit -seal\n",
                   argv[i]);
      return false;
    }
  }
  if (plan.n < 2 || plan.kills + plan.mute + plan.mass >= plan.n) {
    std::fprintf(stderr, "bench_cluster: of %u members, %u can't end; one has to see it\n", plan.n,
                 plan.kills + plan.mute + plan.mass);
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  if (!read_plan(argc, argv, plan)) return 2;
  village village(plan);
  const bool complete = village.join();
  if (plan.idle > 0) village.idle();
  for (unsigned i = 0; i < plan.kills; ++i)
    village.crash(false);
  for (unsigned i = 0; i < plan.mute; ++i)
    village.crash(true);
  if (plan.mass > 0) village.mass();
  village.end();
  return complete ? 0 : 1;
}
