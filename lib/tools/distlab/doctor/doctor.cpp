// distlab doctor: what is installed on this machine, and what each missing package costs.
#include "distlab/doctor/doctor.h"

#include <fmt/format.h>

#include "distlab/commands.h"
#include "distlab/doctor/matrix.h"
#include "distlab/doctor/nccl_choices.h"
#include "distlab/doctor/topology.h"
#include "distlab/json.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"

namespace distlab {
namespace {

std::string mark(Health health) {
  switch (health) {
    case Health::good: return styled(Style::good, "ok");
    case Health::absent: return styled(Style::warn, "--");
    case Health::bad: return styled(Style::bad, "!!");
  }
  __builtin_unreachable();
}

// `picture`: what the last section is about.
void print(const std::vector<Section>& sections, const std::string& picture) {
  constexpr int indent = 26;
  for (const auto& section : sections) {
    fmt::print("{}\n", styled(Style::bold, section.title));
    if (&section == &sections.back()) fmt::print("{}", picture);
    for (const auto& finding : section.findings) {
      const std::string head = fmt::format("  {} {:<20} ", mark(finding.health), finding.topic);
      fmt::print("{}{}", head,
                 indented(finding.found, Style::plain, indent, terminal_width()).substr(indent));
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

}  // namespace

int run_doctor(const DoctorOptions& options) {
  if (options.matrix) {
    fmt::print("{}", backend_matrix());
    return exit_ok;
  }
  Waiting waiting("looking at this machine");
  constexpr auto sys = "/sys";
  const Topology topology = read_topology(sys, read_gpus(sys));
  std::vector<Section> sections{{"Toolchain", check_toolchain()},
                                {"GPU", check_gpu()},
                                {"Machine", check_machine()},
                                {"Topology", explain(topology)}};
  std::string picture = drawn(topology);
  if (options.nccl) {
    const NcclAnswer answer = ask_nccl(topology.gpus.gpus.size());
    sections.back().findings.push_back(answer.finding);
    picture += answer.table;
  }
  waiting.clear();
  const int bad = count(sections, Health::bad);
  if (options.json) {
    fmt::print("{}\n", as_json(sections));
  } else {
    print(sections, picture);
    const int absent = count(sections, Health::absent);
    fmt::print("\n{}\n", bad ? fmt::format("{} to fix (marked !!).", bad)
                             : fmt::format("All labs run here{}.",
                                           absent ? fmt::format("; {} optional {} missing", absent,
                                                                absent == 1 ? "item is" : "items are")
                                                  : ""));
  }
  return bad ? exit_missing : exit_ok;
}

}  // namespace distlab
