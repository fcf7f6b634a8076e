// Lab 16, the demonstration: two processes train a ConvNet to read digits; one of them is killed, and no work
// is lost.
//   ./distlab run 16
// Started by a launcher it is a training program: each process is a rank. The first argument names a
// checkpoint, from which the run continues; the second is the number of epochs in all. Run ./distlab run 16
// once, to build it, and then:
//   build/dev/bin/distrun --nproc-per-node 4 build/dev/bin/lab_16_demo [CHECKPOINT [EPOCHS]]
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/crc32.h"
#include "dist/data/digits.h"
#include "dist/dist.h"
#include "dist/group/join/environment.h"

#include "drawing/ascii.h"
#include "story.h"
#include "train_convnet.h"

namespace {

namespace data = dist::data;
namespace fs = std::filesystem;
namespace nn = dist::nn;
using story::say;

constexpr std::int64_t train_size = 3000, test_size = 500;
constexpr std::uint64_t train_collection = 1, test_collection = 2;  // two collections of digits

// Prints four images side by side, with two rows of pixels per line.
void show_digits() {
  constexpr std::int64_t side = data::DigitImage::side;
  const auto ink = [](const data::DigitImage& digit, std::int64_t row, std::int64_t column) {
    return digit.pixels[static_cast<std::size_t>(row * side + column)] > 127;
  };
  for (std::int64_t row = 4; row < side - 4; row += 2) {
    std::string line = "  ";
    for (const std::int64_t index : {0, 1, 2, 3}) {
      const auto digit = data::draw_digit(train_collection, index);
      for (std::int64_t column = 2; column < side - 2; ++column) {
        const bool upper = ink(digit, row, column), lower = ink(digit, row + 1, column);
        line += upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ";
      }
    }
    say(line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

// A dataset that kills its process when too many samples have been read from it.
class Mortal : public data::Dataset {
 public:
  Mortal(const data::Dataset& samples, std::int64_t reads_to_live)
      : samples_(samples), left_(reads_to_live) {}
  std::int64_t size() const override { return samples_.size(); }
  data::Sample get(std::int64_t index) const override {
    if (left_-- == 0) ::raise(SIGKILL);
    return samples_.get(index);
  }

 private:
  const data::Dataset& samples_;
  mutable std::atomic<std::int64_t> left_;
};

constexpr std::int64_t for_ever = -1;

// The checksum of all numbers of the model: equal models have equal checksums.
std::string checksum(nn::Module& model) {
  std::uint32_t sum = 0;
  for (const auto& [name, tensor] : model.state_dict()) {
    const auto here = tensor.to(dist::cpu);
    sum = dist::crc32({static_cast<const std::byte*>(here.raw()), here.nbytes()}, sum);
  }
  return fmt::format("{:08x}", sum);
}

// If a file is given, the run continues from it.
lab::Plan plan_of(const fs::path& checkpoint) {
  lab::Plan plan;
  plan.checkpoint = checkpoint;
  plan.resume = !checkpoint.empty();
  return plan;
}

// What one rank does, as in any training program. Every rank begins with weights of its own.
void train_on_this_rank(const lab::Plan& plan, std::int64_t reads_to_live = for_ever) {
  dist::init_process_group();
  const int rank = dist::get_rank();
  nn::manual_seed(static_cast<std::uint64_t>(rank));
  nn::ConvNet model;
  model.skip_input_grad();
  const data::Digits digits(train_size, train_collection), test(test_size, test_collection);
  const Mortal samples(digits, rank == 1 ? reads_to_live : for_ever);
  const auto results = lab::train_model(model, samples, test, plan);
  const auto weights = dist::gather_object(checksum(model), 0);
  if (rank == 0) {
    if (results.empty())
      say(fmt::format("   all {} epochs are in {}: nothing is left to do", plan.epochs,
                      plan.checkpoint.string()));
    auto epoch = plan.epochs - static_cast<int>(results.size());
    for (const auto& [loss, accuracy] : results)
      say(fmt::format("   epoch {}   loss {:.4f}   accuracy {:.1f} %", epoch++, loss, 100 * accuracy));
    for (std::size_t i = 0; i < weights.size(); ++i)
      say(fmt::format("   rank {}    weights {}", i, weights[i]));
  }
  dist::destroy_process_group();
}

void train_by_two(const fs::path& checkpoint, std::int64_t reads_to_live = for_ever) {
  dist::spawn(2, [&](int) { train_on_this_rank(plan_of(checkpoint), reads_to_live); });
}

void killed_and_resumed() {
  const fs::path file = fs::temp_directory_path() / fmt::format("distlab-lab16-{}.safetensors", ::getpid());
  try {
    train_by_two(file, train_size * 3 / 4);
  } catch (const dist::Error& error) {
    say(fmt::format("   {}", error.what()));
  }
  say("   The run is started again:");
  train_by_two(file);
  fs::remove(file);
}

using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
constexpr auto before_the_step = std::chrono::milliseconds(1);  // longer than all that precedes the step

// One step of two virtual ranks, with a model that is small enough for the screen.
void picture() {
  dist::sim::RunOptions options;
  options.topology = "10gbe";
  options.trace = true;
  options.stack_bytes = std::size_t{1} << 20;
  const auto report = story::well(dist::sim::run(options, [](int rank) {
    dist::init_process_group();
    nn::Sequential model;
    model.add<nn::BatchNorm2d>(1);
    model.add<nn::Flatten>();
    model.add<nn::Linear>(28 * 28, 10);
    dist::DistributedDataParallel ddp(model, lab::same_buckets);
    nn::SGD optimizer(model.parameters(), {.lr = 0.1});
    const data::Digits digits(4);
    dist::sleep(before_the_step);
    lab::train_step(ddp, optimizer, data::stack(std::vector{digits.get(2 * rank), digits.get(2 * rank + 1)}));
  }));
  auto trace = report.trace;
  constexpr auto start = std::chrono::duration_cast<Picoseconds>(before_the_step).count();
  std::erase_if(trace.events, [](const auto& event) { return event.begin < start; });
  for (auto& event : trace.events) event.begin -= start, event.end -= start;
  say(dist::trace::to_ascii(trace));
}

void story_of_the_lab() {
  say("1  Four digits, drawn by a program");
  show_digits();
  say("\n2  What two ranks send each other in one step");
  picture();
  say(fmt::format("3  Two processes train with {} digits; {} others are for testing", train_size, test_size));
  train_by_two({});
  say("\n4  The same with a checkpoint; rank 1 is killed in the middle of epoch 1");
  killed_and_resumed();
}

}  // namespace

int main(int argc, char** argv) {
  if (!dist::is_launched()) return story::tell(argc, story_of_the_lab);
  auto plan = plan_of(argc > 1 ? argv[1] : "");
  if (argc > 2) plan.epochs = std::atoi(argv[2]);
  if (argc > 3 || plan.epochs < 1) {
    say("usage, under a launcher: lab_16_demo [CHECKPOINT [EPOCHS]]");
    return 2;
  }
  try {
    train_on_this_rank(plan);
    return 0;
  } catch (const std::exception& error) {
    say(error.what());
    return 1;
  }
}
