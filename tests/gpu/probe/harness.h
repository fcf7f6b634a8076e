// Runs each probe in processes of its own with a time limit, so that a hang or a crash is a row of the table.
// The program's first process never touches CUDA: a CUDA context does not survive fork().
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace probe {

// printf into a string.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Thrown by a probe: the system, the driver or NCCL said no. Its text becomes the row's answer.
class Refused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Thrown by a probe that does not apply here.
class Skipped : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Value {
  std::string name;
  double number;
  std::string unit;
};

enum class Status { works, refused, skipped, hung, crashed };
const char* name(Status status);

struct Row {
  std::string probe, question;
  Status status = Status::works;
  double seconds = 0;
  std::vector<Value> values;
  std::vector<std::string> notes;
};

// How a probe reports what it found. Every line goes through a pipe at once, so that what was reported before
// a crash is kept.
class Report {
 public:
  explicit Report(int fd) : fd_(fd) {}
  void value(const std::string& name, double number, const std::string& unit) const;
  void note(const std::string& what) const { line('N', what); }
  void line(char kind, const std::string& what) const;

 private:
  int fd_;
};

struct Probe {
  const char* name;
  const char* question;
  int limit_s;
  void (*run)(const Report&);
};

// Forks, runs the probe, waits at most its limit; every process it started is gone when this returns.
Row run_isolated(const Probe& probe);

// What the processes of one probe share: a meeting point and a place to leave messages.
class Team {
 public:
  static constexpr int max_ranks = 8;
  static constexpr std::size_t room_bytes = 4096;

  explicit Team(int ranks);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void barrier();                                         // throws Refused when another rank has failed
  void wait_for(const std::function<bool()>& condition);  // spins politely; throws as barrier() does
  void* room(int rank) { return board_->room[rank]; }     // 4 KiB that all see; order it by barrier()
  std::atomic<long>& counter(int i) { return board_->counters[i].value; }  // 8 of them, zero at first
  void send_fd(int fd);                                                    // from rank 0 to rank 1
  int receive_fd();

  void fail(int rank, const std::string& what);  // the first one counts
  std::string failure() const;                   // empty: none

 private:
  struct alignas(64) Counter {
    std::atomic<long> value;
  };
  struct Board {
    std::atomic<int> arrived, generation, failed;  // failed: 0 no, 1 being written, 2 readable
    char error[1024];
    Counter counters[8];
    alignas(64) unsigned char room[max_ranks][room_bytes];
  };
  int ranks_;
  Board* board_;
  int sockets_[2];
};

// Runs body(rank, team) in n forked processes and waits. The first failure is thrown as Refused("rank 1:
// ..."). A rank for which may_die is true may end by a signal.
void run_ranks(int n, const std::function<void(int rank, Team&)>& body,
               const std::function<bool(int rank)>& may_die = {});

double now_us();  // steady clock

}  // namespace probe
