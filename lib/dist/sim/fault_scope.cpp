#include "dist/sim/fault_scope.h"

#include <csignal>
#include <cstddef>
#include <mutex>
#include <vector>

namespace dist::sim {
namespace {

thread_local FaultScope* innermost = nullptr;

std::mutex scopes_mutex;  // guards the two below
int scopes = 0;
struct sigaction handler_before;

void handle(int signal, siginfo_t* info, void* context) {
  const bool is_sent = info->si_code <= 0;  // by raise() or kill(): there is no access, and no address
  if (!is_sent && innermost != nullptr && innermost->offer(info->si_addr)) return;
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  std::signal(signal, SIG_DFL);  // the access is repeated, and ends the process
  if (is_sent) std::raise(signal);
}

// The fault may mean that a stack is used up, so the handler needs one of its own.
class SignalStack {
 public:
  SignalStack() {
    stack_t has{};
    sigaltstack(nullptr, &has);
    if ((has.ss_flags & SS_DISABLE) == 0) return;  // this thread has one already
    memory_.resize(std::size_t{64} * 1024);
    const stack_t mine{.ss_sp = memory_.data(), .ss_flags = 0, .ss_size = memory_.size()};
    sigaltstack(&mine, nullptr);
  }
  ~SignalStack() {
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    if (!memory_.empty()) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::vector<std::byte> memory_;
};

}  // namespace

FaultScope::FaultScope(FaultListener& listener) : listener_(listener), outer_(innermost) {
  static thread_local const SignalStack stack;
  innermost = this;
  const std::lock_guard lock(scopes_mutex);
  if (scopes++ > 0) return;
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &handler_before);
}

FaultScope::~FaultScope() {
  innermost = outer_;
  const std::lock_guard lock(scopes_mutex);
  if (--scopes == 0) sigaction(SIGSEGV, &handler_before, nullptr);
}

bool FaultScope::offer(const void* address) const noexcept {
  for (const auto* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->listener_.fault(address)) return true;
  }
  return false;
}

}  // namespace dist::sim
