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
                        text.empty() ? " (the default)" : "");
  }
  return text;
}

constexpr auto train_notes = R"(
Examples:
  ./distlab train                                    two ranks, 12,000 generated digits, two epochs
  ./distlab train --nproc 4 --epochs 5 --plot out    out/loss.svg, out/step_times.svg
  ./distlab train --checkpoint run.safetensors --resume          goes on where that file ends, bit for bit
  ./distlab train --scheme ps                        by a parameter server; dp: by threads of one process
  ./distlab train --data mnist --epochs 1            the real digits, once their files are there
  DIST_TRACE=trace.json ./distlab train --epochs 1   what overlaps with what: https://ui.perfetto.dev
Under distrun, torchrun or mpirun, which then say how many ranks there are, each process is one of them.
)";

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "train", "Train a ConvNet on digits, on several ranks", train);
  command
      ->add_option(
          "--nproc", options->ranks,
          "ranks, or threads of --scheme dp; two, or the one that --scheme single has, when left out")
      ->check(positive)
      ->check(CLI::Range(1, 1024));
  command->add_option("--scheme", options->scheme, scheme_help())->check(CLI::IsMember(scheme_names()));
  command
      ->add_option("--device", options->device, "cpu (the default) or cuda: a GPU for each rank, or shared")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--backend", options->backend, "auto when left out")->check(a_backend);
  command->add_option("--epochs", options->epochs, "2 when left out")->check(no_minus)->check(positive);
  command->add_option("--batch-size", options->batch_size, "of each rank or thread; 64 when left out")
      ->check(positive);
  command
      ->add_option("--data", options->data,
                   "digits: generated (the default); mnist: what ./distlab data mnist tells how to get")
      ->check(CLI::IsMember({"digits", "mnist"}));
  command->add_option("--dir", options->folder, "where MNIST's files are; .distlab/mnist when left out")
      ->check(not_empty);
  command
      ->add_option("--samples", options->samples,
                   "training images; when left out 12000 digits, or all of MNIST")
      ->check(positive);
  command
      ->add_option("--test-samples", options->test_samples,
                   "test images; when left out 2000 digits, or all of MNIST")
      ->check(positive);
  command->add_option("--lr", options->lr, "learning rate; 0.02 when left out")->check(no_minus);
  command->add_option("--momentum", options->momentum, "of the optimizer, SGD; 0.9 when left out")
      ->check(no_minus);
  command->add_option("--seed", options->seed, "of the first weights and of the order")->check(a_seed);
  command->add_option("--checkpoint", options->checkpoint, "written after each epoch (safetensors)")
      ->check(a_file);
  command->add_flag("--resume", options->resume, "go on from the checkpoint, if it is there");
  command->add_option("--plot", options->plot, "a folder for the loss and the step times as SVG")
      ->check(not_empty);
  command->footer(train_notes);
}

}  // namespace distlab
