// glibc's standard streams are variables, so that a stream of ours can take the place of each.
#include "distlab/fitted_output.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "distlab/columns.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

struct Output {
  int fd;
  int offered = 0;  // columns for what is not a terminal, but will be shown on one
  int column = 0;
};

bool is_on = false;

// Returns 0 if `fd` is not a terminal: a rank that was forked may have given it to a pipe.
int columns_of_terminal(const Output& output) {
  winsize size{};
  const bool is_known = ::ioctl(output.fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : output.offered;
}

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

ssize_t write_fitted(void* cookie, const char* bytes, std::size_t size) {
  auto& output = *static_cast<Output*>(cookie);
  const std::string_view text(bytes, size);
  const int columns = is_on ? columns_of_terminal(output) : 0;
  const bool is_written = columns > 0 ? write_whole(output.fd, fitted(text, columns, output.column))
                                      : write_whole(output.fd, text);
  return is_written ? static_cast<ssize_t>(size) : 0;  // 0 is how such a stream says that it failed
}

// Returns a stream for `fd`, or `usual` where there cannot be one.
std::FILE* fitted_stream(Output& output, std::FILE* usual, int buffering) {
  constexpr std::size_t buffer_size = 1 << 16;
  if (::isatty(output.fd) != 1 && output.offered == 0) return usual;
  std::FILE* const stream = ::fopencookie(&output, "w", {nullptr, write_fitted, nullptr, nullptr});
  if (stream == nullptr) return usual;
  std::setvbuf(stream, nullptr, buffering, buffering == _IONBF ? 0 : buffer_size);
  return stream;
}

}  // namespace

void fit_output() {
  static Output out{STDOUT_FILENO}, err{STDERR_FILENO};
  out.offered = err.offered = offered_columns();
  is_on = true;
  std::fflush(nullptr);
  stdout = fitted_stream(out, stdout, _IOLBF);
  stderr = fitted_stream(err, stderr, _IONBF);
}

void do_not_fit_output() { is_on = false; }

}  // namespace distlab
