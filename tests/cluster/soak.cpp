// A night of churn: agents join, leave, are killed and stopped, change their data and rotate their
// key, round after round. After each round all must agree, and nobody may have been told what isn't
// so; over the whole time memory and file handles of those who stay must be flat.
//
//     lifering-soak [--minutes M] [--agents N] [--seed S] [--profile P] [--growth MIB]
//
// Prints a line each minute; exits with 1 at the first thing that is wrong, and says how far it
// was.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/agent.hpp"
#include "cluster/resources.hpp"

namespace {

using namespace lifering_test;
using clock_type = std::chrono::steady_clock;
using words = agent::words;

struct plan {
  double minutes = 480;
  std::size_t agents = 10;
  unsigned seed = 1;
  std::string profile = "lan";  ///< `local` calls a process dead that waits a second for a core.
  double growth = 8;  ///< MiB that a member may grow, beside what it remembers of ended lives.
};

/// What a sealed member keeps of each life that it heard, up to 32768 of them.
constexpr double kib_per_life = 1;
constexpr std::size_t lives_max = 32768;

struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class soak {
 public:
  explicit soak(const plan& plan);
  ~soak() { std::remove(key_path_.c_str()); }
  soak(const soak&) = delete;
  soak& operator=(const soak&) = delete;

  void run();

 private:
  static constexpr const char* anywhere = "127.0.0.1:0";

  /// A name, and the agent that bears it while there is one.
  struct place {
    std::string name;
    std::string address = anywhere;
    std::unique_ptr<agent> living;
    bool has_slept = false;  ///< This life was stopped once; a second time it would be held down.
  };

  /// The first of them live from the beginning to the end.
  static constexpr std::size_t residents = 3;

  /// Seconds after a round in which there may be news of it. Who dies before more than one member
  /// has heard of it is suspected by that one alone, for the longest suspicion.
  static constexpr double told_for = 10;

  std::size_t below(std::size_t bound) { return random_() % bound; }
  place& anybody();
  std::optional<std::size_t> guest(bool living);
  std::size_t living() const;

  void round();
  void act();
  void start(place& at);
  void kill();
  void leave();
  void sleep();
  void change(place& of);
  void talk(place& from);
  void rotate_key();
  void write_key(const std::string& key);
  void await_agreement();
  void judge_round();
  void judge_line(const place& by, const json& event);
  void judge_resources() const;
  void report(double minute);
  void obey(place& who, const std::string& command);
  void note(const std::string& deed);

  plan plan_;
  std::mt19937 random_;
  std::string key_path_;
  std::vector<place> places_;
  std::vector<resources> measured_{residents};
  std::size_t rounds_ = 0;
  std::size_t lives_ = 0;
  std::size_t rotations_ = 0;
  /// Who did what in a round.
  struct deeds {
    std::set<std::string> came;
    std::set<std::string> died;
    std::set<std::string> left;
  };
  std::deque<std::string> diary_;  ///< The last deeds, for who must find out what went wrong.
  deeds now_;
  struct past_round {
    double end;  ///< Unix seconds.
    deeds what;
  };
  std::deque<past_round> past_;  ///< The last ones: an event may be printed rounds after it was.
};

std::string new_key() {
  process keygen({LIFERING_AGENT, "keygen"});
  const auto line = keygen.wait_for_line([](const auto&) { return true; }, agent_patience);
  if (!line) throw wrong("no key was made");
  return *line;
}

soak::soak(const plan& plan)
    : plan_(plan), random_(plan.seed), key_path_("soak-key-" + std::to_string(::getpid())) {
  write_key(new_key());
  for (std::size_t i = 0; i < plan_.agents; ++i) {
    places_.emplace_back();
    places_.back().name = 'n' + std::to_string(i);
  }
  for (auto& each : places_)
    start(each);
}

void soak::write_key(const std::string& key) {
  const auto before = ::umask(077);
  std::ofstream(key_path_) << key << '\n';
  ::umask(before);
}

std::size_t soak::living() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(places_, [](const place& each) { return each.living != nullptr; }));
}

soak::place& soak::anybody() {
  for (;;) {
    auto& drawn = places_[below(places_.size())];
    if (drawn.living) return drawn;
  }
}

/// One of those who come and go, who lives or doesn't.
std::optional<std::size_t> soak::guest(bool living) {
  std::vector<std::size_t> found;
  for (std::size_t i = residents; i < places_.size(); ++i) {
    if ((places_[i].living != nullptr) == living) found.push_back(i);
  }
  if (found.empty()) return std::nullopt;
  return found[below(found.size())];
}

void soak::start(place& at) {
  words seeds;
  for (std::size_t i = 0; i < residents; ++i) {
    if (places_[i].living && places_[i].name != at.name) {
      seeds.push_back(places_[i].living->address());
    }
  }
  const words options{"--profile", plan_.profile, "--quit-on-eof", "--key-file",
                      key_path_,   "--seal",      "require"};
  if (below(2) == 0) at.address = anywhere;
  try {
    at.living = std::make_unique<agent>(at.name, seeds, options, at.address);
  } catch (const std::runtime_error&) {  // Somebody else has its port by now.
    if (at.address == anywhere) throw;
    at.living = std::make_unique<agent>(at.name, seeds, options, anywhere);
  }
  at.address = at.living->address();
  at.has_slept = false;
  note("started " + at.name);
  now_.came.insert(at.name);
  ++lives_;
}

double unix_seconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

void soak::note(const std::string& deed) {
  diary_.push_back(std::to_string(unix_seconds()) + ' ' + deed);
  if (diary_.size() > 300) diary_.pop_front();
}

void soak::kill() {
  const auto victim = guest(true);
  if (!victim) return;
  auto& at = places_[*victim];
  note("kills " + at.name);
  at.living->kill();
  at.living.reset();
  now_.died.insert(at.name);
}

void soak::leave() {
  const auto leaver = guest(true);
  if (!leaver) return;
  auto& at = places_[*leaver];
  note("leaves " + at.name);
  at.living->own().write("leave\n");
  const int code = at.living->exit_code();
  if (code != 0) throw wrong(at.name + " left with exit code " + std::to_string(code));
  at.living.reset();
  now_.left.insert(at.name);
}

void soak::sleep() {
  const auto sleeper = guest(true);
  if (!sleeper || places_[*sleeper].has_slept) return;
  auto& at = places_[*sleeper];
  at.has_slept = true;
  now_.died.insert(at.name);
  now_.came.insert(at.name);
  note("stops " + at.name);
  at.living->own().signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(500 + below(4000)));
  at.living->own().signal(SIGCONT);
  note("continues " + at.name);
}

void soak::obey(place& who, const std::string& command) {
  const json answer = who.living->ask(command);
  if (answer.has("ok")) return;
  throw wrong(who.name + " refuses " + command.substr(0, 20) + ": " + answer["error"].text());
}

void soak::change(place& of) {
  switch (below(4)) {
    case 0:
      return obey(of, "set-meta " + std::string(below(10) == 0 ? 16383 : below(700), 'm') +
                          std::to_string(rounds_ % 10));
    case 1:
      return obey(of, "set-weight " + std::to_string(1 + below(5)));
    case 2:
      return obey(of, "set-service 10.0.0.1:" + std::to_string(1 + below(60000)));
    default:
      obey(of, "drain");
      return obey(of, "ready");
  }
}

void soak::talk(place& from) {
  obey(from, "broadcast " + std::string(1 + below(300), 'b'));
  auto& to = anybody();
  // Its receiver may have been killed just now, or not be known yet.
  if (to.name != from.name) {
    from.living->ask("send-reliably " + to.name + ' ' + std::string(1 + below(20000), 'r'));
  }
}

void soak::rotate_key() {
  const auto next = new_key();
  std::string old_id;
  std::string next_id;
  for (auto& each : places_) {
    if (!each.living) continue;
    obey(each, "key add " + next);
    const json keys = each.living->ask("keys")["keys"];
    old_id = keys[0].text();
    next_id = keys[1].text();
  }
  for (auto& each : places_) {
    if (each.living) obey(each, "key use " + next_id);
  }
  write_key(next);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // What is on its way arrives.
  for (auto& each : places_) {
    if (each.living) obey(each, "key remove " + old_id);
  }
  ++rotations_;
}

void soak::act() {
  const auto absent = guest(false);
  switch (below(12)) {
    case 0:
    case 1:
      return kill();
    case 2:
      return leave();
    case 3:
    case 4:
    case 5:
      if (absent) start(places_[*absent]);
      return;
    case 6:
      return below(4) == 0 ? sleep() : rotate_key();
    case 7:
    case 8:
      return talk(anybody());
    default:
      return change(anybody());
  }
}

void soak::round() {
  for (std::size_t actions = 1 + below(6); actions > 0; --actions)
    act();
  await_agreement();
  note("round " + std::to_string(rounds_) + " agrees");
  judge_round();
  ++rounds_;
}

void soak::await_agreement() {
  const auto end = clock_type::now() + agent_patience;
  for (;;) {
    std::set<std::string> fingerprints;
    bool whole = true;
    for (const auto& each : places_) {
      if (!each.living) continue;
      fingerprints.insert(each.living->fingerprint());
      whole = whole && each.living->member_count() == living() &&
              each.living->stat("events_queued") == 0;
    }
    if (whole && fingerprints.size() == 1) return;
    if (clock_type::now() > end) {
      std::string state;
      for (const auto& each : places_) {
        if (!each.living) continue;
        state += "\n  " + each.name + " sees " + std::to_string(each.living->member_count()) +
                 " of " + std::to_string(living()) + ", fingerprint " + each.living->fingerprint();
      }
      throw wrong("no agreement within a minute:" + state);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void soak::judge_line(const place& by, const json& event) {
  if (!event.has("member")) return;
  const auto kind = event["event"].text();
  const auto about = event["member"]["name"].text();
  const double when = event["t"].number();
  const auto did = [&](std::set<std::string> deeds::*what, const std::string& who) {
    return (now_.*what).contains(who) ||
           std::any_of(past_.begin(), past_.end(), [&](const past_round& each) {
             return when <= each.end + told_for && (each.what.*what).contains(who);
           });
  };
  const bool slept = did(&deeds::died, by.name);  // It may be told of what happened before.
  const auto told_wrongly = [&] {
    if (kind == "failed") return !did(&deeds::died, about);
    if (kind == "left") return !did(&deeds::left, about);
    if (kind == "joined") return !did(&deeds::came, about) && !did(&deeds::came, by.name);
    if (kind == "isolated") return !slept;
    return kind == "superseded";
  };
  if (told_wrongly())
    throw wrong(by.name + " was told that " + about + ' ' + kind + " at " + std::to_string(when));
}

/// All agreed, so whatever was to be told of this round has been told; what isn't of this round is
/// wrong.
void soak::judge_round() {
  for (const auto& each : places_) {
    if (!each.living) continue;
    for (const auto& line : each.living->own().take_lines()) {
      if (!line.starts_with("{\"event\":")) continue;
      const json event = json::parse(line);
      judge_line(each, event);
      if (event.has("member")) {
        const auto& member = event["member"];
        note(each.name + " at " + std::to_string(event["t"].number()) + ": " +
             event["event"].text() + ' ' + member["name"].text());
      }
    }
    if (const auto said = each.living->own().errors();
        said.find("Sanitizer") != std::string::npos) {
      throw wrong(each.name + " said: " + said);
    }
  }
  past_.push_back({unix_seconds(), std::exchange(now_, {})});
  while (past_.front().end + told_for + told_for < past_.back().end)
    past_.pop_front();
}

void soak::report(double minute) {
  std::string text;
  for (std::size_t i = 0; i < residents; ++i) {
    const auto& seen = measured_[i].measure(places_[i].living->own().pid());
    text += ", " + places_[i].name + ' ' + std::to_string(seen.mib).substr(0, 5) + " MiB and " +
            std::to_string(seen.handles) + " handles";
  }
  std::printf("minute %.0f: %zu rounds, %zu lives, %zu key rotations%s\n", minute, rounds_, lives_,
              rotations_, text.c_str());
  std::fflush(stdout);
}

void soak::judge_resources() const {
  const double remembered = kib_per_life * static_cast<double>(std::min(lives_, lives_max)) / 1024;
  for (std::size_t i = 0; i < residents; ++i) {
    const auto grown = measured_[i].grown();
    if (!grown) return;
    std::printf("%s: %+.2f MiB, %+.0f handles from the second quarter to the last\n",
                places_[i].name.c_str(), grown->mib, grown->handles);
    if (grown->mib > plan_.growth + remembered) throw wrong(places_[i].name + " grows");
    if (grown->handles > 8) throw wrong(places_[i].name + " collects handles");
  }
}

void soak::run() {
  const auto begin = clock_type::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(clock_type::now() - begin).count() / 60;
  };
  // At least a dozen samples, at most one a minute.
  const double step = std::min(1.0, plan_.minutes / 12);
  double next = step;
  try {
    await_agreement();
    judge_round();
    while (passed() < plan_.minutes) {
      round();
      if (passed() < next) continue;
      report(passed());
      next = passed() + step;
    }
    judge_resources();
    for (auto& each : places_) {
      if (!each.living) continue;
      each.living->own().write("leave\n");
      if (each.living->exit_code() != 0) throw wrong(each.name + " doesn't end well");
    }
  } catch (const std::exception& error) {
    std::string text;
    for (const auto& deed : diary_)
      text += "\n  " + deed;
    throw wrong("seed " + std::to_string(plan_.seed) + ", round " + std::to_string(rounds_) +
                ", minute " + std::to_string(passed()) + ": " + error.what() +
                "\nbefore it:" + text);
  }
  std::printf("fine: %zu rounds, %zu lives, %zu key rotations\n", rounds_, lives_, rotations_);
}

/// False, with a sentence on stderr, when the words are wrong.
bool read_plan(int argc, char** argv, plan& to) {
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    try {
      if (flag == "--minutes") {
        to.minutes = std::stod(value);
      } else if (flag == "--agents") {
        to.agents = std::stoul(value);
      } else if (flag == "--seed") {
        to.seed = static_cast<unsigned>(std::stoul(value));
      } else if (flag == "--profile") {
        to.profile = value;
      } else if (flag == "--growth") {
        to.growth = std::stod(value);
      } else {
        std::fprintf(stderr, "lifering-soak: no option is called %s\n", argv[i]);
        return false;
      }
    } catch (const std::exception&) {
      std::fprintf(stderr, "lifering-soak: %s takes a number\n", argv[i]);
      return false;
    }
  }
  if (to.agents >= 5 && to.agents <= 200) return true;
  std::fprintf(stderr, "lifering-soak: --agents takes 5 to 200\n");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  if (!read_plan(argc, argv, plan)) return 2;
  try {
    soak(plan).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lifering-soak: %s\n", error.what());
    return 1;
  }
}
