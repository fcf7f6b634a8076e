// First places: what a path leads to, and whether it may be written. Then new files beside them, and what
// killed writers left of such files. Last WholeFile, which writes beside the old file where it can and in
// place where it must.
#include "dist/core/whole_file.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace dist {

namespace fs = std::filesystem;

namespace {

constexpr mode_t all_modes = 07777, write_modes = 0222;
constexpr std::string_view beside_suffix = ".tmp";

std::string reason(int error_number) { return std::generic_category().message(error_number); }

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

std::string_view remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return "free some space there, or name a file on another disk";
    case EFBIG: return "raise the limit of a file's size (ulimit -f), or write less";
    case EPIPE:
    case ENXIO: return "start the program that reads it first";
    default: return "name another file";
  }
}

[[noreturn]] void fail_to_write(const fs::path& path, int error_number) {
  fail(Errc::resource, "{} cannot be written: {}; {}", path.string(), reason(error_number),
       remedy(error_number));
}

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What a path leads to. With a `descriptor`, it is one of this process's own, as /dev/stdout is.
struct Place {
  fs::path path;
  std::optional<int> descriptor;
  std::optional<struct stat> there;  // nothing: no file of that name

  bool is_regular() const { return there && S_ISREG(there->st_mode); }
  bool is_replaced() const { return !descriptor && (!there || is_regular()); }
};

std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code none;
  if (path.parent_path().filename() != "fd") return std::nullopt;
  if (fs::canonical(path.parent_path(), none) != fs::canonical("/proc/self/fd", none)) return std::nullopt;
  return number(path.filename());
}

// Follows link by link, because the last one may lead to a file that does not exist yet.
Place follow(const fs::path& asked) {
  if (asked.empty())
    fail(Errc::invalid_argument, "the name of the file to write is empty; give one, such as out.json");
  constexpr int most_links = 40;  // the system's own limit
  Place place{.path = asked, .descriptor = {}, .there = {}};
  std::error_code not_a_link;
  for (int links = 0; !(place.descriptor = own_descriptor(place.path)); ++links) {
    const fs::path next = fs::read_symlink(place.path, not_a_link);
    if (not_a_link) break;
    if (links == most_links) fail_to_write(asked, ELOOP);
    place.path = folder_of(place.path) / next;
  }
  struct stat status {};
  if (!place.descriptor && ::stat(place.path.c_str(), &status) == 0) place.there = status;
  if (!place.descriptor && !place.there && errno != ENOENT) fail_to_write(asked, errno);
  return place;
}

void check_folder(const fs::path& asked, const fs::path& folder) {
  if (std::error_code none; !fs::is_directory(folder, none))
    fail(Errc::resource, "{0}: there is no folder {1}; make it: mkdir -p {1}", asked.string(),
         fs::absolute(folder).lexically_normal().string());
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    fail(Errc::resource, "{}: {} is not yours to write in; name another folder", asked.string(),
         fs::absolute(folder).lexically_normal().string());
}

void check_place(const fs::path& asked, const Place& place) {
  if (place.descriptor) return;
  if (!place.there) {
    if (!place.path.has_filename())
      fail(Errc::resource, "{}: there is no such folder; name a file in it", asked.string());
    return check_folder(asked, folder_of(place.path));
  }
  const mode_t mode = place.there->st_mode;
  if (S_ISDIR(mode)) fail(Errc::resource, "{} is a folder; name a file in it", asked.string());
  if (S_ISBLK(mode) || S_ISSOCK(mode))
    fail(Errc::resource, "{} is a {}; name a file", asked.string(), S_ISBLK(mode) ? "disk" : "socket");
  if (S_ISREG(mode) && (mode & write_modes) == 0)
    fail(Errc::resource, "{0} is read-only (mode {1:04o}); name another file, or: chmod u+w {0}",
         asked.string(), mode & all_modes);
  if (::faccessat(AT_FDCWD, place.path.c_str(), W_OK, AT_EACCESS) != 0)
    fail(Errc::resource, "{} is not yours to write; name another file", asked.string());
}

bool has_access_list(const fs::path& path) {
  return ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

bool is_mount_point(const fs::path& path) {
  struct statx more {};
  return ::statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE, &more) == 0 &&
         (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// New files are called "NAME.PID-COUNT.tmp" and are in the folder of NAME. Their writer holds their lock for
// as long as it lives. A name may have 255 bytes.
std::string stem_beside(const fs::path& path) { return path.filename().string().substr(0, 220) + "."; }

bool is_beside(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem) || !name.ends_with(beside_suffix) ||
      name.size() < stem.size() + beside_suffix.size())
    return false;
  const auto middle = name.substr(stem.size(), name.size() - stem.size() - beside_suffix.size());
  const auto dash = middle.find('-');
  return dash != middle.npos && number(std::string(middle.substr(0, dash))) &&
         number(std::string(middle.substr(dash + 1)));
}

bool is_named(int fd, const std::string& name) {
  struct stat held {
  }, named{};
  return ::fstat(fd, &held) == 0 && ::stat(name.c_str(), &named) == 0 && S_ISREG(held.st_mode) &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

bool try_lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

// Removes what killed writers of this path have left beside it.
void remove_leftovers(const fs::path& path) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(path), ignored)) {
    const std::string name = entry.path();
    if (!is_beside(entry.path().filename().string(), stem_beside(path))) continue;
    const UniqueFd fd(::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd && try_lock(fd.get()) && is_named(fd.get(), name)) ::unlink(name.c_str());
  }
}

struct Beside {
  std::string name;
  UniqueFd fd;
};

// The new file is locked. Without a descriptor, errno says why there is none.
Beside make_beside(const fs::path& path, mode_t mode) {
  static std::atomic<int> count = 0;
  while (true) {
    Beside made;
    made.name =
        folder_of(path) / fmt::format("{}{}-{}{}", stem_beside(path), ::getpid(), count++, beside_suffix);
    made.fd = UniqueFd(::open(made.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!made.fd && errno == EEXIST) continue;
    // Another process may have taken the file for a leftover before it was locked.
    if (!made.fd || (!try_lock(made.fd.get()) && errno != EWOULDBLOCK)) return made;
    if (is_named(made.fd.get(), made.name)) return made;
  }
}

bool take_owner_and_mode(int fd, const struct stat& of) {
  struct stat now {};
  if (::fstat(fd, &now) != 0) return false;
  if ((now.st_uid != of.st_uid || now.st_gid != of.st_gid) && ::fchown(fd, of.st_uid, of.st_gid) != 0)
    return false;
  return ::fchmod(fd, of.st_mode & all_modes) == 0;
}

// Opened without waiting: a pipe that no process reads would block its writer forever.
UniqueFd open_as_it_is(const Place& place) {
  std::fflush(stdout);  // it may be the same file
  if (place.descriptor) return UniqueFd(::fcntl(*place.descriptor, F_DUPFD_CLOEXEC, 0));
  const int truncated = place.is_regular() ? O_TRUNC : 0;
  UniqueFd fd(::open(place.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | truncated));
  if (fd) ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

}  // namespace

WholeFile::WholeFile(const fs::path& path) : asked_(path) {
  const Place place = follow(path);
  check_place(path, place);
  path_ = place.path;
  if (place.is_replaced()) {
    remove_leftovers(path_);
    if (open_beside(place.there ? &*place.there : nullptr)) return;
  }
  fd_ = open_as_it_is(place);
  if (!fd_) refuse(errno);
}

// Returns false if the old file cannot be replaced by a new one; it may still be possible to write into it.
bool WholeFile::open_beside(const struct stat* old) {
  if (old && (has_access_list(path_) || is_mount_point(path_))) return false;
  constexpr mode_t private_mode = 0600, usual_mode = 0666;
  auto [name, fd] = make_beside(path_, old ? private_mode : usual_mode);
  if (!fd && old && (errno == EACCES || errno == EPERM || errno == EROFS)) return false;
  if (!fd) refuse(errno);
  beside_ = std::move(name);
  fd_ = std::move(fd);
  if (!old || take_owner_and_mode(fd_.get(), *old)) return true;
  ::unlink(std::exchange(beside_, "").c_str());
  return false;
}

WholeFile::~WholeFile() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void WholeFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) refuse(errno);
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void WholeFile::finish(bool on_disk) {
  // On a device there is nothing to sync: fsync() says EINVAL or EROFS, which is not an error here.
  if (on_disk && ::fsync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS) refuse(errno);
  // Some file systems report only when a descriptor is closed that the disk is full. The file's own
  // descriptor stays open: it holds the lock, without which the new file would be taken for a leftover.
  if (::close(::dup(fd_.get())) != 0 && errno != EINTR) refuse(errno);
  if (beside_.empty()) return;
  if (::rename(beside_.c_str(), path_.c_str()) != 0) refuse(errno);
  beside_.clear();
  if (!on_disk) return;
  const UniqueFd folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());  // the name, too
}

void WholeFile::refuse(int error_number) const { fail_to_write(asked_, error_number); }

void write_whole_file(const fs::path& path, std::string_view text) {
  WholeFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish();
}

void check_whole_file(const fs::path& path) { check_place(path, follow(path)); }

void refuse_device(std::string_view what, const fs::path& path) {
  std::error_code ignored;
  const auto type = fs::status(path, ignored).type();
  if (type == fs::file_type::character || type == fs::file_type::block)
    fail(Errc::invalid_argument, "{} {} is a device; name a file", what, path.string());
}

}  // namespace dist
