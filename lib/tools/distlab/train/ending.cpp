#include "distlab/train/ending.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>

#include "dist/core/fail.h"

#include "distlab/train/devices.h"

namespace distlab {
namespace {

// In memory that forked ranks share with the process that forked them.
struct Requests {
  std::atomic<int> signal{0};  // the first one that came; 0: none has
  std::atomic<bool> is_obeyed{false};
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<double>::is_always_lock_free,
              "a signal handler uses them");

std::atomic<Requests*> requests{nullptr};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A scheduler's signal may come twice: to this process, and through the launcher, which passes it on.
constexpr double echo_s = 3;
std::array<std::atomic<double>, NSIG> first_came_s{};  // of each signal

extern "C" void note_request(int number) {
  int none = 0;
  requests.load()->signal.compare_exchange_strong(none, number);
  double never = 0;
  auto& first_s = first_came_s[static_cast<std::size_t>(number)];
  if (first_s.compare_exchange_strong(never, now_s()) || now_s() - never < echo_s) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Not those that end or stop a process whatever it does, that say what it has done, or that are the C
// library's own.
bool can_be_waited_for(int number) {
  constexpr std::array others{SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS,
                              SIGFPE,  SIGILL,  SIGTRAP, SIGABRT, SIGSYS};
  struct sigaction present {};
  return std::ranges::find(others, number) == others.end() && sigaction(number, nullptr, &present) == 0;
}

std::string name_of(int number) {
  if (number == 0) return "another rank was asked to end";
  const char* const name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

}  // namespace

void note_requests_to_end(int stop_signal) {
  if (requests.load() != nullptr) return;
  void* const page =
      mmap(nullptr, sizeof(Requests), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) dist::fail_errno(dist::Errc::resource, errno, "a page for requests to end");
  requests = new (page) Requests;
  for (const int number : {SIGTERM, stop_signal}) {
    struct sigaction present {
    }, ours{};
    if (number == 0 || sigaction(number, nullptr, &present) != 0) continue;
    if (number == SIGTERM && present.sa_handler == SIG_IGN) continue;  // whoever started us wants that
    ours.sa_handler = note_request;
    ours.sa_flags = SA_RESTART;
    sigaction(number, &ours, nullptr);
  }
}

bool has_ended_early() { return requests.load() != nullptr && requests.load()->is_obeyed; }

int signal_named(const std::string& text) {
  std::string name;
  for (const unsigned char letter : text) name += static_cast<char>(std::toupper(letter));
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (int number = 1; number < NSIG; ++number) {
    const char* const known = sigabbrev_np(number);
    const bool is_it = name == std::to_string(number) || (known != nullptr && name == known);
    if (is_it) return can_be_waited_for(number) ? number : 0;
  }
  return 0;
}

bool Ending::after_step() {
  constexpr double between_s = 0.2;
  constexpr std::int64_t most_steps = 1000;
  if (++steps_ < next_ || requests.load() == nullptr) return false;
  const double now = now_s(), since_s = asked_at_s_ == 0 ? between_s : now - asked_at_s_;
  const double is_asked = requests.load()->signal != 0 ? 1 : 0;
  // Sums are equal on all ranks, so all of them ask each other after the same step again.
  const auto all = summed({is_asked, since_s, 1.}, device_);
  const double step_s = all[1] / all[2] / static_cast<double>(steps_);
  next_ = std::clamp(static_cast<std::int64_t>(between_s / std::max(step_s, between_s / most_steps)),
                     std::int64_t{1}, most_steps);
  steps_ = 0;
  asked_at_s_ = now_s();
  is_agreed_ = all[0] > 0;
  if (is_agreed_) requests.load()->is_obeyed = true;
  return is_agreed_;
}

std::string Ending::words(const std::string& where, const std::string& checkpoint) const {
  return fmt::format("{}: the run ends after {}; {}", name_of(requests.load()->signal), where,
                     checkpoint.empty()
                         ? "nothing is saved, because there is no --checkpoint"
                         : fmt::format("it is saved in {}, and --resume continues it", checkpoint));
}

}  // namespace distlab
