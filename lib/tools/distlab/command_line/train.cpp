// distlab train.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"
#include "distlab/train/scheme.h"

namespace distlab {
namespace {

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const auto& scheme : schemes()) names.emplace_back(scheme.name);
  return names;
}

std::string scheme_help() {
  std::string text;
  for (const auto& scheme : schemes()) {
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", scheme.name, scheme.help,
                        text.empty() ? " (default)" : "");
  }
  return text;
}

constexpr auto train_notes = R"(
Examples:
  ./distlab train                                    two ranks, 12,000 generated digits, two epochs
  ./distlab train --nproc 4 --epochs 5 --plot out    out/loss.svg, out/step_times.svg
  ./distlab train --checkpoint run.safetensors --resume          continues from that file, bit for bit
  ./distlab train --scheme ps                        with a parameter server; dp: with threads of one process
  ./distlab train --data mnist --epochs 1            the real digits, once you have their files
  DIST_TRACE=trace.json ./distlab train --epochs 1   see what overlaps, in https://ui.perfetto.dev
Under distrun, torchrun or mpirun, each process is one rank, and the launcher sets the number of ranks.
)";

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "train", "Train a ConvNet on digits, on several ranks", train);
  command
      ->add_option("--nproc", options->ranks,
                   "number of ranks, or of threads for --scheme dp (default: 2; 1 for --scheme single)")
      ->check(positive)
      ->check(CLI::Range(1, 1024));
  command->add_option("--scheme", options->scheme, scheme_help())->check(CLI::IsMember(scheme_names()));
  command->add_option("--device", options->device, "cpu (default), or cuda: one GPU per rank, or shared ones")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--backend", options->backend, "the backend (default: auto)")->check(a_backend);
  command->add_option("--epochs", options->epochs, "number of epochs (default: 2)")
      ->check(no_minus)
      ->check(positive);
  command->add_option("--batch-size", options->batch_size, "batch size per rank or thread (default: 64)")
      ->check(positive);
  command
      ->add_option("--data", options->data,
                   "digits: generated (default); mnist: ./distlab data mnist says how to get it")
      ->check(CLI::IsMember({"digits", "mnist"}));
  command->add_option("--dir", options->folder, "folder of MNIST's files (default: .distlab/mnist)")
      ->check(not_empty);
  command
      ->add_option("--samples", options->samples,
                   "number of training images (default: 12000 digits, or all of MNIST)")
      ->check(positive);
  command
      ->add_option("--test-samples", options->test_samples,
                   "number of test images (default: 2000 digits, or all of MNIST)")
      ->check(positive);
  command->add_option("--lr", options->lr, "learning rate (default: 0.02)")->check(no_minus);
  command->add_option("--momentum", options->momentum, "momentum of the optimizer, SGD (default: 0.9)")
      ->check(no_minus);
  command->add_option("--seed", options->seed, "seed of the first weights and of the order of the images")
      ->check(a_seed);
  command->add_option("--checkpoint", options->checkpoint, "file to write after each epoch (safetensors)")
      ->check(a_file);
  command->add_flag("--resume", options->resume, "continue from the checkpoint if it exists");
  command->add_option("--plot", options->plot, "folder for the loss and the step times as SVG")
      ->check(not_empty);
  command->footer(train_notes);
}

}  // namespace distlab
