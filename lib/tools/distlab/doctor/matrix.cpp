// Every backend that can be used here is asked by a process of its own (MPI cannot be left again), which
// writes its answers into memory that it shares with this one.
#include "distlab/doctor/matrix.h"

#include <array>
#include <cerrno>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include "dist/backend/backend.h"
#include "dist/core/error.h"
#include "dist/core/fail.h"
#include "dist/group/group_state.h"
#include "dist/group/process_group.h"
#include "dist/launch/spawn.h"
#include "dist/simulate/simulate.h"

#include "distlab/terminal.h"

namespace distlab {
namespace {

// What one backend takes: the operations, of f32; and the dtypes of sums, on the device that it has.
struct Answers {
  std::array<std::array<bool, 2>, dist::op_kind_count> takes{};  // on a CPU, on a GPU
  std::array<bool, dist::all_dtypes.size()> sums{};
};

void ask(const std::string& name, Answers& answers) {
  dist::init_process_group({.backend = name});
  const dist::Backend& backend = *dist::default_group().state()->backend;
  const auto on_devices = [&](dist::OpKind kind, dist::DType dtype) {
    const auto on = [&](dist::Device device) {
      return backend.supports(kind, dist::ReduceOp::Kind::sum, dtype, device, nullptr);
    };
    return std::array{on(dist::cpu), on(dist::cuda(0))};
  };
  for (std::size_t i = 0; i < dist::op_kind_count; ++i) {
    const auto kind = static_cast<dist::OpKind>(i);
    answers.takes[i] = on_devices(kind, dist::DType::f32);
  }
  for (std::size_t i = 0; i < dist::all_dtypes.size(); ++i)
    answers.sums[i] = on_devices(dist::OpKind::all_reduce, dist::all_dtypes[i]) != std::array{false, false};
  dist::destroy_process_group();
}

// Throws what keeps the rank from answering.
Answers answers_of(const std::string& name) {
  void* const shared =
      mmap(nullptr, sizeof(Answers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) dist::fail_errno(dist::Errc::resource, errno, "memory for a backend's answers");
  auto* const answers = new (shared) Answers;
  const auto on_rank = [&](int) { ask(name, *answers); };
  if (name == "sim") {
    const auto report = dist::sim::run({.ranks = 1}, on_rank);
    if (!report.failures.empty()) dist::fail(dist::Errc::internal, "{}", report.failures.front().what);
  } else {
    dist::spawn(1, on_rank);
  }
  const Answers copy = *answers;
  munmap(shared, sizeof(Answers));
  return copy;
}

std::string cell(const std::array<bool, 2>& takes) {
  if (takes[0]) return takes[1] ? "CPU, GPU" : "CPU";
  return takes[1] ? "GPU" : "-";
}

std::string dtypes(const Answers& answers) {
  std::vector<std::string_view> missing;
  for (std::size_t i = 0; i < answers.sums.size(); ++i)
    if (!answers.sums[i]) missing.push_back(dist::name(dist::all_dtypes[i]));
  return missing.empty() ? "all" : fmt::format("all but {}", fmt::join(missing, ", "));
}

}  // namespace

std::string backend_matrix() {
  std::vector<std::pair<std::string, Answers>> present;
  std::string absent;
  const auto is_absent = [&](std::string_view name, std::string_view why) {
    absent += indented(fmt::format("{}: {}", name, why), Style::plain, 2, terminal_width());
  };
  for (const dist::BackendEntry& entry : dist::backends()) {
    try {
      if (entry.name != "sim") (void)dist::find_backend(entry.name);  // it is asked on a virtual rank
      present.emplace_back(entry.name, answers_of(std::string(entry.name)));
    } catch (const dist::Error& error) {
      is_absent(entry.name, error.what());
    }
  }
  is_absent("ucc", "not in Debian 12, hence absent; \"auto\" takes nccl, cuda or host");
  std::string table = fmt::format("  {:<16}", "operation");
  for (const auto& [name, answers] : present) table += fmt::format("{:<10}", name);
  for (std::size_t i = 0; i < dist::op_kind_count; ++i) {
    table += fmt::format("\n  {:<16}", dist::name(static_cast<dist::OpKind>(i)));
    for (const auto& [name, answers] : present) table += fmt::format("{:<10}", cell(answers.takes[i]));
  }
  table += "\n\nDtypes of sums\n";
  for (const auto& [name, answers] : present) table += fmt::format("  {:<16}{}\n", name, dtypes(answers));
  return table + "\nNot here\n" + absent;
}

}  // namespace distlab
