// FUZZ_PROGRAM SECONDS [SEED]: mutates the correct inputs of its target, and what came of them, for that
// long. The input under way is kept in FUZZ_PROGRAM.input in the current folder until it has been read.
#include "judge/fuzz/driver.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>

#include <sys/resource.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::size_t longest = 1 << 16, most_kept = 512;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t end) { return end == 0 ? 0 : engine_() % end; }

  // One to eight changes of one of `inputs`.
  std::string next(const std::vector<std::string>& inputs) {
    std::string text = inputs[below(inputs.size())];
    for (std::size_t changes = 1 + below(8); changes > 0; --changes)
      change(text, inputs[below(inputs.size())]);
    if (text.size() > longest) text.resize(longest);
    return text;
  }

 private:
  void change(std::string& text, const std::string& other) {
    static const std::string special[] = {std::string("\0\0\0\0", 4),
                                          "\xFF\xFF\xFF\xFF",
                                          "\xFF\xFF\xFF\x7F",
                                          std::string("\1\0\0\0", 4),
                                          "[",
                                          "{\"\":",
                                          "\"",
                                          "\\",
                                          "1e999",
                                          "PK\1\2"};
    const std::size_t at = below(text.size() + 1),
                      some = below(std::min<std::size_t>(text.size() - at, 64) + 1);
    switch (below(7)) {
      case 0: text.erase(at, some); break;
      case 1: text.insert(at, text.substr(below(text.size() + 1), below(64))); break;
      case 2: text.insert(at, special[below(std::size(special))]); break;
      case 3: text.replace(at, std::min<std::size_t>(some, 4), special[below(std::size(special))]); break;
      case 4: text.insert(at, other.substr(below(other.size() + 1), below(256))); break;
      case 5: text.insert(at, below(4096), static_cast<char>(below(256))); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    }
  }
  std::mt19937_64 engine_;
};

void limit_memory() {
  const rlimit both{std::size_t{4} << 30, std::size_t{4} << 30};
  ::setrlimit(RLIMIT_AS, &both);
}

long peak_mib() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss >> 10;
}

int fail(const char* why) {
  std::fprintf(stderr, "FAILED: an input %s; it is kept\n", why);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto seconds = std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 20);
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  if (std::getenv("ASAN_OPTIONS") == nullptr) limit_memory();
  const fs::path kept = fs::path(argv[0]).filename().string() + ".input";
  auto inputs = right_inputs();
  const auto rights = inputs.size();
  Mutator mutator(seed);
  std::uint64_t tried = 0;
  for (const auto end = Clock::now() + seconds; Clock::now() < end; ++tried) {
    const std::string input = tried < rights ? inputs[tried] : mutator.next(inputs);
    std::ofstream(kept, std::ios::binary) << input;
    const std::clock_t begin = std::clock();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    if (std::clock() - begin > CLOCKS_PER_SEC) return fail("took more than a second of work");
    if (peak_mib() > 512) return fail("took more than 512 MiB");
    if (mutator.below(16) != 0) continue;  // some are the ground for others
    if (inputs.size() < most_kept)
      inputs.push_back(input);
    else
      inputs[rights + mutator.below(most_kept - rights)] = input;
  }
  fs::remove(kept);
  std::printf("%llu inputs\n", static_cast<unsigned long long>(tried));
}
