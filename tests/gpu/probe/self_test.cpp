#include "self_test.h"

#include <cstdio>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "harness.h"
#include "report.h"

namespace probe {
namespace {

int mistakes = 0;

void expect(bool condition, const Row& row, const char* what) {
  if (condition) return;
  ++mistakes;
  std::printf("self-test: %s is not so:\n", what);
  print_row(row);
}

Row run_one(const char* name, int limit_s, void (*run)(const Report&)) {
  return run_isolated({name, "self-test", limit_s, run});
}

void single_processes() {
  Row row = run_one("works", 5, [](const Report& report) {
    report.value("a value", 2.5, "us");
    report.note("two\nlines");
  });
  expect(row.status == Status::works && row.values.size() == 1 && row.values[0].number == 2.5, row,
         "a value arrives");
  expect(row.values.size() == 1 && row.values[0].unit == "us" && row.notes.size() == 1 &&
             row.notes[0] == "two lines",
         row, "unit and note arrive");
  row = run_one("refused", 5, [](const Report&) { throw Refused("no such thing"); });
  expect(row.status == Status::refused && row.notes.at(0) == "no such thing", row,
         "a refusal keeps its text");
  row = run_one("skipped", 5, [](const Report&) { throw Skipped("not here"); });
  expect(row.status == Status::skipped, row, "a skip is a skip");
  row = run_one("crashes", 5, [](const Report& report) {
    report.note("before");
    raise(SIGSEGV);
  });
  expect(row.status == Status::crashed && row.notes.size() == 2 && row.notes[0] == "before", row,
         "a crash keeps what was said before");
  row = run_one("hangs", 1, [](const Report&) {
    for (;;) pause();
  });
  expect(row.status == Status::hung && row.seconds < 3, row, "a hang ends at its limit");
}

void several_processes() {
  Row row = run_one("leaves a child", 5, [](const Report& report) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    report.value("child", child, "");
  });
  const bool named = row.values.size() == 1;
  expect(row.status == Status::works && named && row.seconds < 3, row,
         "a child left behind does not hold it up");
  expect(named && kill(static_cast<pid_t>(row.values[0].number), 0) != 0, row, "a child left behind is gone");

  row = run_one("ranks meet", 10, [](const Report& report) {
    run_ranks(4, [&](int rank, Team& team) {
      *static_cast<int*>(team.room(rank)) = rank * rank;
      for (int i = 0; i < 100; ++i) team.barrier();
      if (rank == 3) report.value("of rank 2", *static_cast<int*>(team.room(2)), "");
    });
  });
  expect(row.status == Status::works && row.values.size() == 1 && row.values[0].number == 4, row,
         "ranks share memory");

  row = run_one("one rank fails", 10, [](const Report&) {
    run_ranks(2, [](int rank, Team& team) {
      if (rank == 1) throw Refused("bad luck");
      team.barrier();
    });
  });
  expect(row.status == Status::refused && row.notes.at(0) == "rank 1: bad luck", row,
         "the rank that failed is named");

  row = run_one("one rank dies, one hangs", 10, [](const Report&) {
    run_ranks(2, [](int rank, Team&) {
      if (rank == 1) raise(SIGKILL);
      for (;;) pause();
    });
  });
  expect(row.status == Status::refused && row.notes.at(0).find("rank 1: killed by signal 9") == 0 &&
             row.seconds < 6,
         row, "a death is named and the other rank ended");

  row = run_one("a descriptor travels", 5, [](const Report&) {
    run_ranks(2, [](int rank, Team& team) {
      int fds[2];
      if (rank == 0) {
        if (pipe2(fds, O_CLOEXEC) != 0 || write(fds[1], "x", 1) != 1) throw Refused("pipe");
        team.send_fd(fds[0]);
        team.barrier();
      } else {
        char c = 0;
        const int fd = team.receive_fd();
        if (read(fd, &c, 1) != 1 || c != 'x') throw Refused("a wrong byte");
        team.barrier();
      }
    });
  });
  expect(row.status == Status::works, row, "a descriptor travels");
}

}  // namespace

int self_test() {
  single_processes();
  several_processes();
  std::printf("self-test: %d mistakes\n", mistakes);
  return mistakes == 0 ? 0 : 1;
}

}  // namespace probe
