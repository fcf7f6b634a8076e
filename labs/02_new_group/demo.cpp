// Lab 02, the demonstration: eight ranks form two halves, sum in each half, and exchange the sums; then they
// form a table.
//   ./distlab run 2 [--nproc N]
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "new_group.h"
#include "story.h"

namespace {

using story::say;

// Rank 0 prints the lines of all ranks, in rank order. Neighbours with equal lines share one.
void report(const std::string& line) {
  const auto lines = dist::gather_object(line, 0);
  for (std::size_t first = 0, end = 0; first < lines.size(); first = end) {
    while (end < lines.size() && lines[end] == lines[first]) ++end;
    const auto who =
        end - first == 1 ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, end - 1);
    say(fmt::format("   {}: {}", who, lines[first]));
  }
}

void title(const std::string& line) {
  if (dist::get_rank() == 0) say(line);
}

std::string seen(const char* name, const dist::ProcessGroup& group) {
  return fmt::format("{} of {} {{{}}}", group.is_member() ? "a member" : "not a member", name,
                     fmt::join(group.ranks(), ", "));
}

void tell_halves() {
  const int rank = dist::get_rank();
  title("1  Two halves: every rank makes both, and is a member of one");
  const auto halves = lab::make_halves();
  report(fmt::format("{}, {}", seen("lower", halves.lower), seen("upper", halves.upper)));

  title("\n2  Each half has a sum of its own: rank r contributes r");
  report(fmt::format("the sum of my half is {}", lab::half_sum(halves, rank)));

  title("\n3  Both sums on every rank: rank r contributes r, and then -r");
  for (const int sign : {1, -1}) {
    const auto sums = lab::both_sums(halves, sign * rank);
    report(fmt::format("lower sum {}, upper sum {}", sums[0], sums[1]));
  }
}

// The number of rows of the mesh that is closest to a square, with at least as many columns as rows.
int rows_for(int ranks) {
  int rows = 1;
  for (int r = 1; r * r <= ranks; ++r) {
    if (ranks % r == 0) rows = r;
  }
  return rows;
}

void tell_mesh() {
  const int n = dist::get_world_size(), rank = dist::get_rank();
  const int rows = rows_for(n), columns = n / rows;
  title(fmt::format("\n4  A mesh of {} rows and {} columns", rows, columns));
  const auto mesh = lab::make_mesh(rows, columns);
  report(fmt::format("row {} {{{}}}, column {} {{{}}}", mesh.my_row, fmt::join(mesh.row.ranks(), ", "),
                     mesh.my_column, fmt::join(mesh.column.ranks(), ", ")));

  const int column = columns - 1, seconds = rank * 3 % n;
  title(fmt::format("\n5  Column {} broadcasts its rank in each row, and each column finds its slowest rank",
                    column));
  auto told = dist::full({1}, rank, dist::DType::i32);
  lab::broadcast_in_row(told, mesh, column);
  report(fmt::format("received {}; took {} s; the slowest rank of my column is rank {}", told.item<int>(),
                     seconds, lab::slowest_in_column(mesh, seconds)));
}

void one_rank(int) {
  dist::init_process_group();
  tell_halves();
  tell_mesh();
  dist::destroy_process_group();
}

// The N of --nproc N, 8 without arguments; 0 if the arguments are wrong.
int ranks_asked_for(int argc, char** argv) {
  if (argc == 1) return 8;
  int n = 0;
  if (argc == 3 && std::strcmp(argv[1], "--nproc") == 0)
    std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), n);
  return n >= 2 && n <= 64 ? n : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = ranks_asked_for(argc, argv);
  if (ranks == 0) {
    say("usage: [--nproc N], N from 2 to 64");
    return 2;
  }
  try {
    dist::spawn(ranks, one_rank);
  } catch (const dist::Error& error) {
    say(fmt::format("   {}", error.what()));
    return 1;
  }
}
