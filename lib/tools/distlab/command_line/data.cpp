// distlab data.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {

void add_data_command(CLI::App& app, int& exit_code) {
  auto* data = app.add_subcommand("data", "What is trained on: generated digits, MNIST");
  data->require_subcommand(1);

  const auto digits =
      add_command(*data, exit_code, "digits", "Draw some of the generated digits", show_digits);
  digits.app->add_flag("--show", digits.options->show, "here (what it does without --sheet)");
  digits.app->add_option("--sheet", digits.options->sheet, "as a picture of many, into this PNG file")
      ->check(a_file);
  digits.app->add_option("-n,--count", digits.options->count, "how many")->check(CLI::Range(1, 100'000));
  digits.app->add_option("--seed", digits.options->seed, "of another collection; 1 when left out")
      ->check(a_seed);

  const auto mnist = add_command(*data, exit_code, "mnist",
                                 "Where to put the files of MNIST, and whether they are right", check_mnist);
  mnist.app->add_option("--dir", mnist.options->folder, "where they are; .distlab/mnist when left out")
      ->check(not_empty);
}

}  // namespace distlab
