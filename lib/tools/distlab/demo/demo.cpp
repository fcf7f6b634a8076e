// distlab demo: a tour of half a minute. Every scene is real: it starts processes, moves bytes and checks the
// results.
#include "distlab/demo/demo.h"

#include <array>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/commands.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab {
namespace {

struct Scene {
  const char* title;
  const char* source;  // under lib/tools/distlab/
  void (*play)();
};

constexpr std::array scenes{
    Scene{"Four processes become ranks of one group", "demo/ranks.cpp", demo::introduce_ranks},
    Scene{"Two halves sum their ranks, then every rank learns both sums", "demo/halves.cpp",
          demo::sum_in_halves},
    Scene{"A message goes 0 → 1 → 2 and is doubled on the way", "demo/relay.cpp", demo::relay_a_message},
    Scene{"All-reduce of 64 MiB", "demo/all_reduce.cpp", demo::all_reduce_64_mib},
    Scene{"A ConvNet learns to read digits, on two ranks", "demo/train.cpp", demo::train_a_network},
    Scene{"A lab is graded", "demo/lab.cpp", demo::grade_a_lab},
};

void say_why(const char* what, const std::exception& error) {
  fmt::print("   {} {}\n", styled(Style::bad, what), error.what());
}

// Returns false, after printing the reason, when the scene failed. A missing feature of this machine is not a
// failure.
bool play(int number, const Scene& scene) {
  fmt::print("{}  {}\n", styled(Style::bold, fmt::format("{}  {}", number, scene.title)),
             styled(Style::dim, scene.source));
  std::fflush(stdout);
  bool played = false;
  try {
    scene.play();
    played = true;
  } catch (const dist::Error& error) {
    played = error.code() == dist::Errc::unsupported;
    say_why(played ? "left out:" : "failed:", error);
  } catch (const std::exception& error) {
    say_why("failed:", error);
  }
  fmt::print("\n");
  std::fflush(stdout);
  return played;
}

// Returns what to do next. An installed distlab may have no checkout with labs.
const char* next() {
  try {
    workspace();
    return "Now it is your turn: ./distlab start 0";
  } catch (const dist::Error&) {
    return "The labs are in a checkout of distlab; go there and run: ./distlab start 0";
  }
}

}  // namespace

int play_demo() {
  int number = 0, failed = 0;
  for (const auto& scene : scenes) failed += play(++number, scene) ? 0 : 1;
  if (failed > 0) {
    fmt::print("{} of {} scenes failed. To check this machine: ./distlab doctor\n", failed, scenes.size());
    return exit_failed;
  }
  fmt::print("That was distlab. {}\n", next());
  return exit_ok;
}

}  // namespace distlab
