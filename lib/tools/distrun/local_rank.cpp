#include "local_rank.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include "dist/core/fail.h"

#include "environment.h"

namespace distrun {
namespace {

constexpr int stdout_stream = 1, stderr_stream = 2;

dist::UniqueFd open_log(const std::string& path) {
  dist::UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) dist::fail_errno(dist::Errc::resource, errno, "distrun: cannot write " + path);
  return fd;
}

std::string log_folder(const Options& o, int attempt, int local_rank) {
  if (o.log_dir.empty()) return "";
  std::string folder = fmt::format("{}/{}/attempt_{}/{}", o.log_dir, o.run_id, attempt, local_rank);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) dist::fail(dist::Errc::resource, "distrun: cannot create {}: {}", folder, error.message());
  return folder;
}

LineSink::Target target(const Stage& stage, const std::string& folder, int local_rank, int stream) {
  const Options& o = stage.options;
  Outlet& outlet = stream == stdout_stream ? stage.out : stage.err;
  LineSink::Target result;
  const bool tee = o.tee.has(local_rank, stream), redirect = o.redirects.has(local_rank, stream);
  const bool chosen = o.shown_ranks.empty() || std::ranges::count(o.shown_ranks, local_rank) > 0;
  if (chosen && (tee || !redirect)) result.shown = &outlet;
  if (o.prefix)
    result.prefix = line_prefix(stage.nodes.place().first_rank + local_rank,
                                outlet.is_terminal() && getenv("NO_COLOR") == nullptr);
  if (tee || redirect) {
    result.file = open_log(folder + (stream == stdout_stream ? "/stdout.log" : "/stderr.log"));
  }
  return result;
}

// Reads at most a few pieces at a time, so that no rank starves the others.
void read_stream(int fd, LineSink& sink, bool& open) {
  std::array<char, 65536> piece;
  for (int i = 0; open && i < 4; ++i) {
    const ssize_t n = ::read(fd, piece.data(), piece.size());
    if (n > 0)
      sink.add({piece.data(), static_cast<std::size_t>(n)});
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
      open = false;  // EIO: a terminal's other side is closed
    else
      return;
  }
  if (!open) sink.finish();
}

}  // namespace

LocalRank LocalRank::start(const Stage& stage, const Command& command, int attempt, int local_rank) {
  const Place& place = stage.nodes.place();
  const std::string folder = log_folder(stage.options, attempt, local_rank);
  Worker::Setup setup{stage.signals.inherited(), {}};
  const std::string error_file = folder.empty() ? "" : folder + "/error.json";
  setup.environment =
      rank_environment(own_environment(), stage.options, place, local_rank, attempt, error_file);
  setup.reads_stdin = local_rank == 0 && isatty(0) == 0;
  setup.on_terminal = stage.out.is_terminal();
  auto tail = std::make_unique<Tail>();
  auto out = target(stage, folder, local_rank, stdout_stream),
       err = target(stage, folder, local_rank, stderr_stream);
  err.tail = tail.get();
  Command own = command;
  if (stage.options.pass_local_rank)
    own.arguments.insert(own.arguments.begin() + 1, fmt::format("--local-rank={}", local_rank));
  Worker worker(own, setup);
  stage.guardian.watch(worker.pid());
  return {std::move(worker), std::move(tail), LineSink(std::move(out)), LineSink(std::move(err)), error_file};
}

void LocalRank::read(Outlet& shown_out, Outlet& shown_err) {
  if (!shown_out.is_full()) read_stream(worker.out(), out, out_open);
  if (!out_open) worker.close_out();
  if (!shown_err.is_full()) read_stream(worker.err(), err, err_open);
  if (!err_open) worker.close_err();
  shown_out.pump();
  shown_err.pump();
}

}  // namespace distrun
