// Lab 00, the demonstration: four processes say who they are, add up a number each, and compute the mean.
#include <fmt/format.h>

#include "dist/dist.h"

#include "first_steps.h"
#include "story.h"

namespace {

using story::say;

constexpr int processes = 4;

void title(const std::string& line) {
  if (dist::get_rank() == 0) say(line);
}

// Rank 0 prints the lines of all ranks, in rank order.
void report(const std::string& line) {
  const auto lines = dist::gather_object(line, 0);
  for (std::size_t rank = 0; rank < lines.size(); ++rank)
    say(fmt::format("   rank {}: {}", rank, lines[rank]));
}

void one_rank(int) {
  const auto name = lab::introduce();
  title("1  Who am I? Each process has joined the group and asked for its number");
  report(fmt::format("I am {}", name));

  const auto mine = static_cast<float>(dist::get_rank() + 1);
  title("\n2  The sum: every rank contributes a number, and every rank has the sum");
  report(fmt::format("I contributed {}, the sum is {}", mine, lab::sum_of_all(mine)));

  title("\n3  The mean: training averages gradients like this");
  report(fmt::format("the mean is {}", lab::mean_of_all(mine)));
  dist::destroy_process_group();
}

void story_of_the_lab() { dist::spawn(processes, one_rank); }

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
