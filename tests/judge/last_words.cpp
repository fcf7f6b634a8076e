#include "judge/last_words.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <span>

#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include "judge/frame.h"

namespace judge {
namespace {

constexpr std::array fatal{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
constexpr int most_frames = 48;

// What a handler may still rely on when the heap is broken: memory that is there already.
struct {
  std::array<char, 64> nonce;
  std::uintptr_t begin, end, base;  // of this program's code, and where its addresses begin
  std::array<char, 2048> frame;
  std::array<std::byte, 64 << 10> stack;  // its own one may be used up
} prepared;

int note_program(dl_phdr_info* program, std::size_t, void*) {
  prepared.base = program->dlpi_addr;
  for (const auto& segment : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    prepared.begin = prepared.base + segment.p_vaddr;
    prepared.end = prepared.begin + segment.p_memsz;
  }
  return 1;  // the first one is the program
}

// Where the signal came: of x86 and of ARM with 64 bits.
std::uintptr_t interrupted_at(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#ifdef __x86_64__
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
  return (void)machine, 0;
#endif
}

void tell(int signal, const siginfo_t* info, std::uintptr_t interrupted) {
  constexpr std::size_t header = 4;
  const auto room = std::span(prepared.frame).subspan(header);
  std::size_t used = 0;
  const auto add = [&](const char* format, auto... values) {
    used +=
        static_cast<std::size_t>(std::snprintf(room.data() + used, room.size() - used, format, values...));
  };
  add(R"({"nonce":"%s","crash":{"signal":%d,"address":%zu,"frames":[)", prepared.nonce.data(), signal,
      reinterpret_cast<std::uintptr_t>(info->si_addr));
  std::array<void*, most_frames> frames{};
  const int count = ::backtrace(frames.data(), most_frames);
  const char* between = "";
  for (const void* frame : std::span(frames).first(static_cast<std::size_t>(count))) {
    // Where a call returns to may be a different line from the call.
    const auto place = reinterpret_cast<std::uintptr_t>(frame), at = place == interrupted ? place : place - 1;
    if (at < prepared.begin || at >= prepared.end) continue;
    add("%s%zu", between, at - prepared.base);
    between = ",";
  }
  add("%s", "]}}");
  for (std::size_t i = 0; i < header; ++i) prepared.frame[i] = static_cast<char>(used >> 8 * i & 0xFF);
  if (::write(channel_fd, prepared.frame.data(), header + used) < 0) return;  // then no one listens
}

void handle(int signal, siginfo_t* info, void* context) {
  ::signal(signal, SIG_DFL);
  tell(signal, info, interrupted_at(context));
  ::raise(signal);  // delivered on return, and ends the process
}

}  // namespace

void give_last_words(std::string_view nonce) {
  nonce.copy(prepared.nonce.data(), prepared.nonce.size() - 1);
  ::dl_iterate_phdr(note_program, nullptr);
  std::array<void*, 1> once{};
  ::backtrace(once.data(), 1);  // loads what it needs, which a handler may not
  const stack_t stack{.ss_sp = prepared.stack.data(), .ss_flags = 0, .ss_size = prepared.stack.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : fatal) ::sigaction(signal, &action, nullptr);
}

}  // namespace judge
