// The command line as a whole: what all commands have in common, and errors in the command itself.
#include "distlab/command_line/command_line.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "distlab/build_info.h"
#include "distlab/command_line/add_command.h"
#include "distlab/suggest.h"
#include "distlab/welcome.h"
#include "usage_words.h"

namespace distlab {
namespace {

constexpr auto examples = R"(
Your first hour:
  ./distlab demo         see what distlab is about, in half a minute
  ./distlab start 0      see which page of lab 0 to read, and which file to edit
  ./distlab run 0        see what your code does
  ./distlab grade 0      is it right, and if not, why?
  ./distlab hint 0       get a hint when you are stuck
  ./distlab trace 0      see the messages of the failing test as a picture
  ./distlab watch 0      grade whenever you save, with a key for each of these
  ./distlab              see what comes next, on any later day

If something is wrong: ./distlab doctor checks this machine, ./distlab test tests it all.

Exit codes: 0 success, 1 failed (a test, a grade, a compilation), 2 wrong usage, 3 something needed is missing.
)";

int print_version() {
  fmt::print("distlab {}\n", build_info().version);
  return exit_ok;
}

// Adds the commands in the order of the help.
void add_commands(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, "demo", "See what distlab is about, in half a minute", play_demo);
  add_lab_commands(app, exit_code);
  add_file_commands(app, exit_code);
  add_class_commands(app, exit_code);
  add_checkout_commands(app, exit_code);
  add_bench_command(app, exit_code);
  add_show_command(app, exit_code);
  add_sim_command(app, exit_code);
  add_trace_command(app, exit_code);
  add_train_command(app, exit_code);
  add_data_command(app, exit_code);
  add_command(app, exit_code, "version", "Print the version", print_version);
}

std::vector<std::string> command_names(const CLI::App& app, bool hidden) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty() == hidden) names.push_back(command->get_name());
  }
  return names;
}

// For an unknown command, prints one line with the command that was probably meant, not the whole help.
bool refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return false;
  const std::string word = argv[1];
  if (word.starts_with('-')) {
    if (app.get_option_no_throw(word) != nullptr) return false;
    fmt::print(stderr, "distlab: there is no option \"{}\"; see ./distlab --help\n", word);
    return true;
  }
  const auto names = command_names(app, false), hidden = command_names(app, true);
  const auto is_word = [&](const std::string& name) { return name == word; };
  if (std::ranges::any_of(names, is_word) || std::ranges::any_of(hidden, is_word)) return false;
  const std::string meant = closest(word, names);
  fmt::print(stderr, "distlab: there is no command \"{}\"; {}\n", word,
             meant.empty() ? "./distlab --help lists them" : fmt::format("did you mean \"{}\"?", meant));
  return true;
}

// Returns the command as far as it was understood: "./distlab class grade".
const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

std::string words_of(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : words_of(*parent) + " " + command.get_name();
}

// Returns the option that names the lab, if it is missing: "lab", "--lab", or trace's "files".
const CLI::Option* missing_lab(const CLI::App& command) {
  for (const char* name : {"lab", "--lab", "files"}) {
    const auto* option = command.get_option_no_throw(name);
    if (option != nullptr && option->get_required() && option->empty()) return option;
  }
  return nullptr;
}

std::string complaint(const CLI::App* app, const CLI::Error& error) {
  const auto& command = innermost(*app);
  const auto words = words_of(command);
  const bool lacks_something = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const auto* lab = lacks_something ? missing_lab(command) : nullptr;
  if (lab == nullptr)
    return fmt::format("distlab: {}; see {} --help\n", tools::usage_words(error.what()), words);
  const auto what_to_type = lab->get_positional() ? words + " 1" : "add --lab 1";
  return fmt::format("distlab: which lab? For lab 1: {}; ./distlab list shows all labs\n", what_to_type);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  int exit_code = exit_ok;
  CLI::App app{"distlab: a teaching lab for distributed training", "./distlab"};
  app.set_version_flag("--version", fmt::format("distlab {}", build_info().version));
  app.require_subcommand(1);
  app.get_formatter()->column_width(18);
  app.failure_message(complaint);
  add_commands(app, exit_code);
  app.footer(examples);  // last: subcommands made after it would repeat it
  if (argc < 2) {
    if (!print_welcome()) fmt::print("{}", app.help());  // there is no checkout here
    return exit_ok;
  }
  if (refuse_unknown_command(app, argc, argv)) return exit_usage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help, complaints;
    const int code = app.exit(error, help, complaints);
    fmt::print("{}", help.str());
    fmt::print(stderr, "{}", complaints.str());
    return code == 0 ? exit_ok : exit_usage;
  }
  return exit_code;
}

}  // namespace distlab
