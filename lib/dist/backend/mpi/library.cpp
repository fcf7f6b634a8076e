// MPI itself: begin() initialises it once per process, turn() serialises calls where the library serves one
// thread at a time, check() turns results into errors, keep() holds what MPI still works on, and finalize()
// ends MPI with the process.
#include "dist/backend/mpi/library.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/store/socket.h"

namespace dist::mpi {
namespace {

struct Library {
  std::mutex beginning;
  bool begun = false;
  std::atomic<bool> takes_turns{false};
  std::mutex turn;
  pid_t begun_by_us_in = 0;  // 0: the program began it, and ends it
  std::mutex keeping;
  std::vector<std::shared_ptr<const void>> kept;
};

// Never destroyed, because it is used until the process has ended.
Library& library() {
  static Library& the_one = *new Library;
  return the_one;
}

std::string version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.substr(0, std::min(text.find(','), static_cast<std::size_t>(length)));
}

}  // namespace

// MPI_Finalize waits for all ranks. A rank that ends with an error does not call it: mpirun sees it go, and
// ends the others. A forked child has its parent's MPI, and leaves it alone.
void finalize(int exit_status) {
  const Library& lib = library();
  if (lib.begun_by_us_in != getpid() || exit_status != 0 || !is_running()) return;
  if (!lib.kept.empty())
    return log(LogLevel::warn,
               "backend mpi: what was given up is still under way, so this process ends without "
               "MPI_Finalize, and mpirun ends the job");
  MPI_Finalize();
}

void begin() {
  Library& lib = library();
  const std::lock_guard lock(lib.beginning);
  if (lib.begun) return;
  int initialized = 0, finalized = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized)
    fail(Errc::unsupported,
         "backend \"mpi\": this process has called MPI_Finalize, and MPI can be begun only once");
  if (initialized) {
    check(MPI_Query_thread(&level), "MPI_Query_thread");
  } else {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    lib.begun_by_us_in = getpid();
    // For calls that are made before a group has its own communicator.
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  lib.takes_turns = level < MPI_THREAD_MULTIPLE;
  log(LogLevel::info, "backend mpi: {}, thread level {} of {}{}", version(), level, int{MPI_THREAD_MULTIPLE},
      lib.takes_turns ? ": threads take turns" : "");
  lib.begun = true;
}

std::string share_address_of_rank_0(int rank, int world_size) {
  begin();
  int mpi_rank = 0, mpi_size = 1;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &mpi_size), "MPI_Comm_size");
  if (mpi_rank != rank || mpi_size != world_size)
    fail(Errc::unsupported,
         "backend \"mpi\": this is rank {} of {}, but to {} it is rank {} of {}; start the ranks with the "
         "mpirun "
         "of that MPI, or use backend \"host\"",
         rank, world_size, version(), mpi_rank, mpi_size);
  std::array<char, 512> text{};
  if (rank == 0) {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    SocketAddress any_port;
    any_port.host = host.data();
    const int port = local_port(listen_at(any_port).get());  // free now, and soon used again
    fmt::format_to_n(text.data(), text.size() - 1, "{}:{}", host.data(), port);
  }
  const auto lock = turn();
  check(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return text.data();
}

bool is_running() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

std::unique_lock<std::mutex> turn() {
  Library& lib = library();
  return lib.takes_turns ? std::unique_lock(lib.turn) : std::unique_lock<std::mutex>();
}

void check(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  std::string words(MPI_MAX_ERROR_STRING, '\0');
  int length = 0, error_class = MPI_ERR_OTHER;
  MPI_Error_string(code, words.data(), &length);
  MPI_Error_class(code, &error_class);
  words.resize(static_cast<std::size_t>(length));
  fail(error_class == MPI_ERR_TRUNCATE ? Errc::mismatch : Errc::connection, "rank {}: {} failed: {}",
       current_rank_label(), call, words);
}

void progress(MPI_Comm communicator) {
  const auto lock = turn();
  int is_there = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, 0, communicator, &is_there, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

int highest_tag() {
  static const int highest = [] {
    void* value = nullptr;
    int found = 0;
    const auto lock = turn();
    check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found),
          "MPI_Comm_get_attr");
    constexpr int least = 32767;  // the least that the standard allows
    return found ? *static_cast<int*>(value) : least;
  }();
  return highest;
}

void keep(std::shared_ptr<const void> what) {
  Library& lib = library();
  const std::lock_guard lock(lib.keeping);
  lib.kept.push_back(std::move(what));
}

}  // namespace dist::mpi
