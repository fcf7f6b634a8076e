// distlab doctor: what this machine has, and what each absence costs.
#include "distlab/doctor.h"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "distlab/build_info.h"
#include "distlab/commands.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

struct Section {
  std::string title;
  std::vector<Finding> findings;
};

std::string_view word(Health health) {
  switch (health) {
    case Health::good: return "good";
    case Health::absent: return "absent";
    case Health::bad: return "bad";
  }
  __builtin_unreachable();
}

std::string mark(Health health) {
  switch (health) {
    case Health::good: return styled(Style::good, "ok");
    case Health::absent: return styled(Style::warn, "--");
    case Health::bad: return styled(Style::bad, "!!");
  }
  __builtin_unreachable();
}

void print(const std::vector<Section>& sections) {
  constexpr int indent = 26;
  for (const auto& section : sections) {
    fmt::print("{}\n", styled(Style::bold, section.title));
    for (const auto& finding : section.findings) {
      const std::string head = fmt::format("  {} {:<20} ", mark(finding.health), finding.topic);
      fmt::print("{}{}\n", head, wrapped(finding.found, terminal_width() - indent, 0).c_str());
      if (finding.cost.empty()) continue;
      fmt::print("{:{}}{}\n", "", indent,
                 styled(Style::dim, wrapped(finding.cost, terminal_width(), indent)));
    }
  }
}

int count(const std::vector<Section>& sections, Health health) {
  int n = 0;
  for (const auto& section : sections) {
    for (const auto& finding : section.findings) n += finding.health == health ? 1 : 0;
  }
  return n;
}

void print_json(const std::vector<Section>& sections) {
  nlohmann::ordered_json all;
  all["distlab"] = build_info().version;
  for (const auto& section : sections) {
    for (const auto& finding : section.findings) {
      all["findings"].push_back({{"section", section.title},
                                 {"topic", finding.topic},
                                 {"health", word(finding.health)},
                                 {"found", finding.found},
                                 {"cost", finding.cost}});
    }
  }
  fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void doctor(bool json) {
  const std::vector<Section> sections{
      {"Toolchain", check_toolchain()}, {"GPU", check_gpu()}, {"Machine", check_machine()}};
  const int bad = count(sections, Health::bad);
  if (json) {
    print_json(sections);
  } else {
    print(sections);
    const int absent = count(sections, Health::absent);
    fmt::print("\n{}\n",
               bad ? fmt::format("{} to mend (marked !!).", bad)
                   : fmt::format("All labs run here{}.",
                                 absent ? fmt::format("; {} optional things are absent", absent) : ""));
  }
  if (bad) throw CLI::RuntimeError(exit_missing);
}

}  // namespace

void add_doctor_command(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("doctor", "What this machine has, and what each absence costs");
  command->add_flag("--json", *json, "for programs");
  command->footer("Exit code 3 when something needs mending.");
  command->callback([json] { doctor(*json); });
}

}  // namespace distlab
