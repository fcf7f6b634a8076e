// FileLog: locks of the open file (an exclusive or shared one for the content, and one that says that a user
// is present), opening or adopting a file, and reading and appending records. A torn tail, of a writer that
// was killed, is skipped by readers and cut off by the next writer.
#include "dist/store/file_log.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/store/wire.h"

namespace dist {
namespace {

using namespace std::chrono_literals;
constexpr std::string_view header = "distlab store 1\n";
constexpr std::size_t longest_record = wire::max_frame + sizeof(std::uint32_t);  // bytes
constexpr std::string_view other_disk = "free some space there, or choose a path on another disk";
constexpr Timeout first_lock_pause = 50us, longest_lock_pause = 5ms;

// FNV-1a, 32 bits.
std::uint32_t checksum(ConstBytes bytes) {
  std::uint32_t hash = 2166136261u;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint32_t>(b)) * 16777619u;
  return hash;
}

// The regions that are locked: bytes far beyond the end of the file. A reader or writer holds `content`; a
// user that is present holds `presence`.
enum class Region : off_t { content = off_t{1} << 60, presence };

// Locks of open file descriptions. Returns false if another one's lock is in the way, or errno says what
// else.
bool try_lock(int fd, short type, Region region) {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = static_cast<off_t>(region);
  request.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &request) == 0;
}

struct stat status_of(int fd) {
  struct stat status {};
  fstat(fd, &status);
  return status;
}

}  // namespace

FileLog::Lock::Lock(const FileLog& log, short type, Deadline deadline) : fd_(log.fd_.get()) {
  for (Timeout pause = first_lock_pause; !try_lock(fd_, type, Region::content);
       pause = std::min(2 * pause, longest_lock_pause)) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EACCES)
      log.fail_system(Errc::resource, "cannot be locked",
                      "choose a path whose file system has locks, such as /tmp of one host, or use tcp://");
    if (deadline.passed()) {
      fail(Errc::connection, "store file://{}: another process holds its lock; is one of them stopped?",
           log.path_);
    }
    std::this_thread::sleep_for(std::min(pause, deadline.left()));
  }
}

FileLog::Lock::~Lock() { try_lock(fd_, F_UNLCK, Region::content); }

FileLog::Lock FileLog::lock_shared(Deadline deadline) const { return Lock(*this, F_RDLCK, deadline); }

FileLog::Lock FileLog::lock_exclusive(Deadline deadline) const { return Lock(*this, F_WRLCK, deadline); }

void FileLog::be_present() const noexcept { try_lock(fd_.get(), F_RDLCK, Region::presence); }

bool FileLog::is_alone() const noexcept {
  const bool alone = try_lock(fd_.get(), F_WRLCK, Region::presence);
  if (alone) be_present();  // a writer's lock would keep others from being present
  return alone;
}

FileLog::FileLog(std::string path) : path_(std::move(path)) {
  do {
    // O_NONBLOCK: opening a FIFO of this name must not block.
    fd_ = UniqueFd(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
    if (!fd_) {
      fail_errno(
          Errc::connection, errno,
          fmt::format("store file://{}: cannot be opened (its folder must exist, on every host)", path_));
    }
  } while (!adopt());
}

// Follows links: what is removed in the end is the file, not a link to it.
std::string FileLog::file() const {
  std::error_code none;
  const auto followed = std::filesystem::canonical(path_, none);
  return none ? path_ : followed.string();
}

bool FileLog::adopt() {
  const auto lock = lock_exclusive(Deadline::after(60s));
  if (is_removed()) return false;
  const auto status = status_of(fd_.get());
  const auto expected = std::as_bytes(std::span(header));
  if (!S_ISREG(status.st_mode))
    fail(Errc::connection, "store file://{}: this is not a regular file; choose another path", path_);
  const Bytes found = read_at(0, std::min(header.size(), size()));
  if (!std::equal(found.begin(), found.end(), expected.begin())) {
    fail(Errc::connection,
         "store file://{}: this file is not a distlab store; choose another path, or remove it", path_);
  }
  if (found.size() < header.size()) write_at(0, expected);  // new, or its maker was killed
  read_to_ = header.size();
  return true;
}

std::size_t FileLog::size() const { return static_cast<std::size_t>(status_of(fd_.get()).st_size); }

bool FileLog::is_removed() const { return status_of(fd_.get()).st_nlink == 0; }

bool FileLog::has_news() const { return size() != read_to_ || is_removed(); }

void FileLog::read(const std::function<void(ConstBytes)>& record) {
  if (is_removed()) {
    fail(
        Errc::connection,
        "store file://{}: the file was removed while in use; start all ranks again, and leave it alone until "
        "they have ended",
        path_);
  }
  if (size() < read_to_) fail_damaged();
  const Bytes news = read_at(read_to_, size() - read_to_);
  ConstBytes rest(news);
  while (rest.size() >= wire::prefix_bytes) {
    const std::size_t length = wire::frame_length(rest.first(wire::prefix_bytes));
    if (length < sizeof(std::uint32_t) || length > longest_record) fail_damaged();
    if (rest.size() - wire::prefix_bytes < length) break;
    wire::Reader body(rest.subspan(wire::prefix_bytes, length));
    if (const auto sum = body.get<std::uint32_t>(); sum != checksum(body.rest())) fail_damaged();
    record(body.rest());
    rest = rest.subspan(wire::prefix_bytes + length);
    read_to_ += wire::prefix_bytes + length;
  }
}

void FileLog::append(ConstBytes payload) {
  wire::Writer writer;
  writer.put(checksum(payload)).append(payload);
  const Bytes record = writer.finish();
  if (size() > read_to_ && ftruncate(fd_.get(), static_cast<off_t>(read_to_)) != 0) {
    fail_system(Errc::resource, "a torn record cannot be cut off", other_disk);
  }
  write_at(read_to_, record);
  read_to_ += record.size();
}

void FileLog::clear() {
  if (ftruncate(fd_.get(), static_cast<off_t>(header.size())) != 0)
    fail_system(Errc::resource, "cannot be emptied", other_disk);
  read_to_ = header.size();
}

void FileLog::remove() {
  const std::string name = file();
  struct stat named {};
  if (stat(name.c_str(), &named) == 0 && named.st_ino == status_of(fd_.get()).st_ino) unlink(name.c_str());
}

void FileLog::fail_damaged() const {
  fail(Errc::connection,
       "store file://{0}: damaged at byte {1}: something else has written to it; remove it (rm {0}) and "
       "start all "
       "ranks again",
       path_, read_to_);
}

void FileLog::fail_system(Errc code, std::string_view what, std::string_view remedy) const {
  fail(code, "store file://{}: {}: {}; {}", path_, what, std::generic_category().message(errno), remedy);
}

Bytes FileLog::read_at(std::size_t offset, std::size_t n) const {
  Bytes bytes(n);
  for (std::size_t done = 0; done < n;) {
    const ssize_t got = pread(fd_.get(), bytes.data() + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_system(Errc::connection, "cannot be read", other_disk);
    if (got == 0) fail_damaged();
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

void FileLog::write_at(std::size_t offset, ConstBytes bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put =
        pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error = errno;
      [[maybe_unused]] const int undone =
          ftruncate(fd_.get(), static_cast<off_t>(offset));  // otherwise a torn tail
      errno = error;
      fail_system(Errc::resource, "cannot be written", other_disk);
    }
    done += static_cast<std::size_t>(put);
  }
}

}  // namespace dist
