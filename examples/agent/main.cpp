// lifering-agent: a member of a cluster as a process of its own, for operators and tests to drive.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <latch>
#include <lifering/cluster.hpp>
#include <lifering/keyring.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "json.hpp"
#include "keys.hpp"
#include "output.hpp"
#include "traps.hpp"

namespace {

constexpr int exit_fine = 0;
constexpr int exit_superseded = 1;
constexpr int exit_mistaken = 2;

/// Wakes the main loop from signal handlers and other threads: a pipe to itself.
std::array<int, 2> wake_pipe{-1, -1};

void wake(char why) {
  // A full pipe wakes as well as one byte more would.
  [[maybe_unused]] const auto written = ::write(wake_pipe[1], &why, 1);
}

constexpr char wake_signal = 's';
constexpr char wake_superseded = 'x';

extern "C" void on_signal(int signal) {
  std::signal(signal, SIG_DFL);  // A second one ends the process at once.
  output::abandon();
  wake(wake_signal);
}

bool prepare_process() {
  // Where stdin, stdout or stderr is closed, the next descriptors must not take its place.
  int spare = open("/dev/null", O_RDWR);
  while (spare >= 0 && spare <= STDERR_FILENO)
    spare = open("/dev/null", O_RDWR);
  if (spare >= 0) close(spare);
  if (pipe(wake_pipe.data()) != 0) return false;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGINT, on_signal);
  return true;
}

/// Says it in one line, whatever bytes were given.
int complain(std::string_view sentence) {
  std::string line;
  for (const char c : sentence) {
    std::array<char, 8> escape{};
    const auto byte = static_cast<unsigned char>(c);
    std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
    line += byte < 0x20 || byte == 0x7f ? std::string(escape.data()) : std::string(1, c);
  }
  std::fprintf(stderr, "lifering-agent: %s\n", line.c_str());
  return exit_mistaken;
}

/// The member and its conversation.
class agent {
 public:
  explicit agent(const arguments& given)
      : seeds_(given.seeds),
        quit_on_eof_(given.quit_on_eof),
        keys_(given.options.keys),
        warns_(given.options.level <= lifering::log_level::warning),
        traps_(given.options.placement),
        cluster_(given.options) {}

  int run();

 private:
  void on_event(const lifering::event& event);
  void on_message(const lifering::message& message);
  void warn_of_traps();
  void say_ready();
  void join();
  int converse();
  /// Reads what there is and obeys whole lines; an exit code if that was the end.
  std::optional<int> read_input();
  std::optional<int> obey_lines();
  std::optional<int> end_of_input();
  int leave();

  const std::vector<std::string> seeds_;
  const bool quit_on_eof_;
  const std::shared_ptr<lifering::keyring> keys_;
  const bool warns_;
  traps traps_;  ///< Used by event handlers alone.
  output out_;
  std::latch ready_{1};  ///< No event is printed before the line that says `ready`.
  std::string input_;
  bool input_open_ = true;
  bool skipping_ = false;  ///< In a line that is too long to be kept.
  lifering::cluster cluster_;
};

void agent::on_event(const lifering::event& event) {
  ready_.wait();
  out_.write(to_json(event));
  if (warns_ && std::holds_alternative<lifering::ring_event>(event)) warn_of_traps();
  const auto* change = std::get_if<lifering::member_event>(&event);
  if (change != nullptr && change->kind == lifering::event_kind::superseded) wake(wake_superseded);
}

void agent::warn_of_traps() {
  for (const auto& sentence : traps_.look(cluster_.ring()))
    complain("warning: " + sentence);
}

void agent::on_message(const lifering::message& message) {
  ready_.wait();
  out_.write(to_json(message));
}

void agent::say_ready() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto self = cluster_.self();
  json_object line;
  line.text("event", "ready");
  line.raw("t", std::to_string(std::chrono::duration<double>(now).count()));
  line.text("name", self.name).text("address", self.address.to_string());
  line.text("bind", cluster_.local_address().to_string());
  line.number("pid", static_cast<std::uint64_t>(getpid()));
  out_.write(line.line());
  ready_.count_down();
}

void agent::join() {
  if (seeds_.empty()) return;
  // Why it failed, and that it goes on, is in the log.
  cluster_.async_join(seeds_, [](std::error_code, std::size_t) {});
}

int agent::run() {
  cluster_.on_event([this](const lifering::event& event) { on_event(event); });
  cluster_.on_message([this](const lifering::message& message) { on_message(message); });
  if (const auto wrong = cluster_.try_start(seeds_.empty() ? "" : seeds_.front())) {
    ready_.count_down();
    return complain(wrong->text);
  }
  say_ready();
  join();
  const int result = converse();
  cluster_.stop();
  return result;
}

int agent::converse() {
  for (;;) {
    std::array<pollfd, 2> waits{{{wake_pipe[0], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    if (poll(waits.data(), input_open_ ? 2 : 1, -1) < 0 && errno != EINTR) {
      return complain("can't wait for input");
    }
    if (waits[0].revents != 0) {
      char why = 0;
      if (::read(wake_pipe[0], &why, 1) == 1) {
        return why == wake_signal ? leave() : exit_superseded;
      }
    }
    if (waits[1].revents != 0) {
      if (const auto result = read_input()) return *result;
    }
  }
}

constexpr std::size_t line_max = std::size_t{1} << 20;

/// Answers are written together up to so many bytes: a lookup each is small, a list is not.
constexpr std::size_t answers_max = std::size_t{1} << 16;

std::optional<int> agent::read_input() {
  std::array<char, 65536> buffer;
  input_.reserve(line_max + buffer.size());  // So that growing leaves no copy of a key behind.
  const auto length = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  if (length <= 0) return end_of_input();
  const auto arrived = std::span(buffer).first(static_cast<std::size_t>(length));
  input_.append(arrived.data(), arrived.size());
  lifering::wipe(arrived);  // There may be a key in it.
  return obey_lines();
}

std::optional<int> agent::obey_lines() {
  std::string answers;
  std::size_t begin = 0;
  auto step = next_step::go_on;
  for (auto end = input_.find('\n'); end != std::string::npos && step == next_step::go_on;
       end = input_.find('\n', begin)) {
    if (!std::exchange(skipping_, false)) {
      step = obey(cluster_, *keys_, std::string_view(input_).substr(begin, end - begin), answers);
    }
    begin = end + 1;
    if (answers.size() > answers_max) {
      out_.write(answers);
      answers.clear();
    }
  }
  lifering::wipe(std::span(input_).first(begin));
  input_.erase(0, begin);
  if (input_.size() > line_max) {
    if (!skipping_) answers += json_object().text("error", "the line is too long").line();
    skipping_ = true;
    lifering::wipe(input_);
    input_.clear();
  }
  out_.write(answers);
  if (step == next_step::leave) return leave();
  if (step == next_step::quit) {
    out_.write("{\"quit\":true}\n");
    return exit_fine;
  }
  return std::nullopt;
}

std::optional<int> agent::end_of_input() {
  input_open_ = false;
  if (!input_.empty()) {  // A last line without an end.
    input_ += '\n';
    if (const auto result = obey_lines()) return result;
  }
  return quit_on_eof_ ? std::optional(exit_fine) : std::nullopt;
}

int agent::leave() {
  std::error_code error;
  const auto acknowledged = cluster_.leave(error);
  json_object line;
  const bool left = !error || error == lifering::errc::timed_out;
  line.raw("left", left ? "true" : "false").number("acknowledged", acknowledged);
  if (error) line.text("error", error.message());
  out_.write(line.line());
  return exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
  if (!prepare_process()) return complain("can't make a pipe");
  const auto words = std::span<const char* const>(argv, static_cast<std::size_t>(argc));
  const bool is_keygen = words.size() > 1 && std::string_view(words[1]) == "keygen";
  if (is_keygen && words.size() == 2) {
    output out;
    generate_key_to(out);
    return exit_fine;
  }
  if (is_keygen && std::string_view(words[2]) != "--help")
    return complain("keygen takes no option");
  const auto given = read_arguments(words.subspan(is_keygen ? 2 : words.empty() ? 0 : 1));
  if (const auto* wrong = std::get_if<mistake>(&given)) return complain(wrong->sentence);
  if (const auto* text = std::get_if<answer>(&given)) {
    output().write(text->text);
    return exit_fine;
  }
  try {
    return agent(std::get<arguments>(given)).run();
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}
