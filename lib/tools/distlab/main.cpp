// distlab: the command line of the teaching lab. Usually started by the ./distlab script, which builds it
// first.
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/build_info.h"
#include "distlab/commands.h"
#include "distlab/suggest.h"

namespace {

constexpr auto examples = R"(
A first hour:
  ./distlab demo         what it is about, in twenty seconds
  ./distlab list         the labs; start with the first one's README.md
  ./distlab run 1        see what your code does
  ./distlab grade 1      is it right, and if not, why?
  ./distlab hint 1       a nudge, when you are stuck

Something odd?  ./distlab doctor says what this machine has, ./distlab test whether everything works.

Exit codes: 0 fine, 1 failed (a test, a grade, a compilation), 2 wrong usage, 3 something needed is missing.
)";

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// An unknown command gets one line with the one that was probably meant, not the whole help.
bool refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  const std::string word = argv[1];
  const auto names = command_names(app);
  for (const auto& name : names) {
    if (name == word) return false;
  }
  const std::string meant = distlab::closest(word, names);
  fmt::print(stderr, "distlab: there is no command \"{}\"; {}\n", word,
             meant.empty() ? "./distlab --help lists them" : fmt::format("did you mean \"{}\"?", meant));
  return true;
}

int run(CLI::App& app, int argc, char** argv) {
  if (refuse_unknown_command(app, argc, argv)) return distlab::exit_usage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& ended) {
    return ended.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? distlab::exit_ok : distlab::exit_usage;
  }
  return distlab::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app{"distlab: a teaching lab for distributed training", "./distlab"};
    app.set_version_flag("--version", fmt::format("distlab {}", distlab::build_info().version));
    app.require_subcommand(1);
    app.get_formatter()->column_width(18);
    app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
      return fmt::format("distlab: {}\nTry {} --help.\n", error.what(), failed->get_name());
    });
    distlab::add_demo_command(app);
    distlab::add_lab_commands(app);
    distlab::add_test_command(app);
    distlab::add_doctor_command(app);
    app.add_subcommand("version", "The version")->callback([] {
      fmt::print("distlab {}\n", distlab::build_info().version);
    });
    app.footer(examples);  // last: subcommands made after it would repeat it
    if (argc < 2) {
      fmt::print("{}", app.help());
      return distlab::exit_ok;
    }
    return run(app, argc, argv);
  } catch (const dist::Error& error) {
    fmt::print(stderr, "distlab: {}\n", error.what());
    return error.code() == dist::Errc::unsupported ? distlab::exit_missing : distlab::exit_failed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "distlab: {}\n", error.what());
    return distlab::exit_failed;
  }
}
