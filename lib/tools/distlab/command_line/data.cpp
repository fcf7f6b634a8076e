// distlab data.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {

void add_data_command(CLI::App& app, int& exit_code) {
  auto* data = app.add_subcommand("data", "Look at the training data: generated digits, MNIST");
  data->require_subcommand(1);

  const auto digits = add_command(*data, exit_code, "digits", "Draw some generated digits", show_digits);
  digits.app->add_flag("--show", digits.options->show,
                       "in the terminal (this is the default without --sheet)");
  digits.app->add_option("--sheet", digits.options->sheet, "as one large picture, in this PNG file")
      ->check(a_file);
  digits.app->add_option("-n,--count", digits.options->count, "how many digits")
      ->check(CLI::Range(1, 100'000));
  digits.app->add_option("--seed", digits.options->seed, "seed of the collection (default: 1)")
      ->check(a_seed);

  const auto mnist = add_command(*data, exit_code, "mnist",
                                 "Check the files of MNIST, and say where to put them", check_mnist);
  mnist.app->add_option("--dir", mnist.options->folder, "folder of the files (default: .distlab/mnist)")
      ->check(not_empty);
}

}  // namespace distlab
