// Cheat: looks for its nonce in the program's own memory, and answers with what no runner would, so that the
// grader fails and the submission stays ungraded.
// Told: a rank answered what cannot be graded
#include <cstring>
#include <string>

#include <unistd.h>

#include "all_gather_all_reduce.h"

extern "C" char __data_start[], _end[];

static std::string nonce() {
  constexpr std::ptrdiff_t digits = 16;
  for (const char* at = __data_start; at + digits < _end; ++at) {
    if (std::strspn(at, "0123456789abcdef") == digits) return {at, digits};
  }
  return "";
}

static void cheat(dist::Tensor&, const dist::Tensor&) {
  const std::string text = R"({"nonce":")" + nonce() + R"(","reply":{"value":[{"same_memory":"x"}]}})";
  std::string frame(4, '\0');
  frame[0] = static_cast<char>(text.size());
  frame += text;
  if (write(3, frame.data(), frame.size()) < 0) _exit(1);
}
