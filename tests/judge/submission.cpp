#include "judge/submission.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "judge/confined_run.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t most_bytes = 512 << 10;  // of the file; a long solution has 10 KiB
constexpr std::uintmax_t most_zip_bytes = 64 << 20;
constexpr int deepest = 6;
constexpr std::size_t most_entries = 20'000;  // of a folder, before it is given up
constexpr std::size_t most_named = 100;       // files of that name; and what is unpacked of a zip
const fs::path unpacker = JUDGE_CMAKE, unpacker_prefix = unpacker.parent_path().parent_path();

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw Refused(fmt::format(text, std::forward<Values>(values)...));
}

[[noreturn]] void refuse_form(const std::string& name) {
  refuse("{} is not a .cpp file, a folder or a zip file; hand in one of these", name);
}

// An error that is not the student's. Says what the last system call did.
[[noreturn]] void cannot_read(const fs::path& path) {
  throw std::runtime_error(fmt::format("{} cannot be read: {}; is it open to whoever grades?", path.string(),
                                       std::strerror(errno)));
}

bool is_open(const fs::path& path) {
  std::error_code none;
  return ::access(path.c_str(), fs::is_directory(path, none) ? R_OK | X_OK : R_OK) == 0;
}

void expect_open(const fs::path& path) {
  if (!is_open(path)) cannot_read(path);
}

bool is_zip(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(2, '\0');
  return file.read(start.data(), 2) && start == "PK";
}

bool has_extension(const fs::path& path, std::string_view wanted) {
  auto extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension == wanted;
}

bool is_called_zip(const fs::path& path) { return has_extension(path, ".zip"); }

// "broadcast (1).cpp", as browsers name a second one; not "._broadcast.cpp", which macOS adds.
bool is_source(const fs::path& path) {
  return has_extension(path, ".cpp") && !path.filename().string().starts_with('.');
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) cannot_read(path);
  std::string text(most_bytes + 1, '\0');  // whatever the system says of its size
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most_bytes)
    refuse("{} has {} KiB; the file of a lab has at most {}", path.filename().string(),
           fs::file_size(path) >> 10, most_bytes >> 10);
  const auto name = path.filename().string();
  const bool is_utf16 =
      text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") || path.extension() == ".cpp";
  if (text.find('\0') != std::string::npos)
    is_utf16 ? refuse("{} is not text in UTF-8 (it has zero bytes, as UTF-16 has); save it as UTF-8", name)
             : refuse_form(name);
  return text;
}

int depth(const fs::path& path) { return static_cast<int>(std::distance(path.begin(), path.end())); }

std::size_t todos_in(std::string_view text) {
  constexpr std::string_view todo = "DIST_TODO(";
  std::size_t todos = 0;
  for (auto at = text.find(todo); at != text.npos; at = text.find(todo, at + todo.size())) ++todos;
  return todos;
}

// The one that is meant of the files of that name, by paths relative to `folder`.
std::optional<Taken> choose(const std::vector<fs::path>& named, const fs::path& file,
                            const fs::path& folder) {
  if (named.empty()) return std::nullopt;
  if (named.size() > most_named)
    refuse("there are {} files {}; hand in one", named.size(), file.filename().string());
  struct Candidate {
    fs::path path;
    std::string text;
    std::tuple<std::size_t, bool, int> order;
  };
  std::vector<Candidate> all;
  for (const auto& path : named) {
    auto text = read(folder / path);
    const std::tuple order(todos_in(text), path != file, depth(path));
    all.push_back({path, std::move(text), order});
  }
  std::ranges::stable_sort(all, {}, &Candidate::order);
  const auto& first = all.front();
  const auto other = std::ranges::find_if(all, [&](const auto& one) { return one.text != first.text; });
  if (other == all.end()) return Taken{first.text};
  if (other->order == first.order)
    refuse("there are {} and {}; hand in one", first.path.string(), other->path.string());
  return Taken{first.text, fmt::format("{} was graded, and not {}; hand in one file", first.path.string(),
                                       other->path.string())};
}

enum class Zips : std::uint8_t { looked_into, left_out };
Taken from_folder(const fs::path& folder, const fs::path& file, Zips looks);

// Matches sources in all folders of a zip: their names may have characters that mean something in a pattern.
const char* const any_source = "*.[cC][pP][pP]";
std::string anywhere(const fs::path& file) { return "*" + file.filename().string(); }

// For a zip that only we may read: the unpacker is another user.
fs::path open_copy(const fs::path& zip, const fs::path& folder) {
  expect_open(zip);
  if (const auto size = fs::file_size(zip); size > most_zip_bytes)
    refuse("{} has {} MiB; a zip file may have {}, and a lab needs only its one source",
           zip.filename().string(), size >> 20, most_zip_bytes >> 20);
  auto copy = folder / zip.filename();
  fs::copy_file(zip, copy);
  fs::permissions(copy, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  return copy;
}

Ran list_zip(const fs::path& zip, Errand& errand, const std::string& pattern = {}) {
  Command command{.argv = {unpacker, "-E", "tar", "tf", zip}, .readable = {zip, unpacker_prefix}};
  if (!pattern.empty()) command.argv.insert(command.argv.end(), {"--", pattern});
  return errand.run(command);
}

// What is in a zip that is too long to be listed whole: all that has the file's name, or else all sources.
std::string list_long_zip(const fs::path& zip, const fs::path& file, Errand& errand) {
  Ran list = list_zip(zip, errand, anywhere(file));
  if (!list.is_well()) list = list_zip(zip, errand, any_source);
  const auto name = file.filename().string();
  if (!list.is_well()) refuse("{} is not in {}", name, zip.filename().string());
  if (list.output.size() >= errand.limits().output_bytes)
    refuse("{} has too many files; hand in {} alone", zip.filename().string(), name);
  return list.output;
}

bool leads_out(const fs::path& path) {
  return path.is_absolute() || *path.lexically_normal().begin() == "..";
}

// The unpacker's pattern for what is meant of the files in a zip.
std::string choose_listed(const std::string& list, const fs::path& zip, const fs::path& file) {
  const std::string name = file.filename().string(), zip_name = zip.filename().string();
  std::vector<fs::path> named, sources;
  bool has_unreadable = false;  // names in an encoding other than UTF-8 are listed as empty lines
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    const fs::path path = line;
    if (path.filename() == name) named.push_back(path);
    if (is_source(path)) sources.push_back(path);
    if (line.empty()) has_unreadable = true;
  }
  const bool goes_by_name = !named.empty() || has_unreadable;
  if (!goes_by_name && sources.size() != 1) refuse("{} is not in {}", name, zip_name);
  if (named.size() > most_named) refuse("{} has {} files {}; hand in one", zip_name, named.size(), name);
  const auto& meant = goes_by_name ? named : sources;
  if (const auto out = std::ranges::find_if(meant, leads_out); out != meant.end())
    refuse("{} holds {}, a name that leads out of the zip; hand in {} alone", zip_name, out->string(), name);
  return goes_by_name ? anywhere(file) : any_source;
}

// The pattern matches names that are not meant, too, and what is in a folder of such a name.
void expect_few(const Ran& list, const fs::path& zip, Errand& errand, const std::string& pattern,
                const std::string& wanted) {
  const auto is_long = [&](const Ran& listed) {
    const auto lines = std::ranges::count(listed.output, '\n');
    return std::cmp_greater(lines, most_named) || listed.output.size() >= errand.limits().output_bytes;
  };
  if (is_long(list) && is_long(list_zip(zip, errand, pattern)))
    refuse("{} has more than {} files whose names end in {}; hand in one", zip.filename().string(),
           most_named, wanted);
}

// A zip may take permissions away even from its owner.
void open_all(const fs::path& folder) {
  for (const auto& each : fs::recursive_directory_iterator(folder))
    if (!each.is_symlink()) fs::permissions(each, fs::perms::owner_all, fs::perm_options::add);
}

// Whether a file of that name is encrypted, by the directory at the end of a zip: 46 bytes before each name,
// of which bit 0 of the ninth says so.
bool is_encrypted(const fs::path& zip, const std::string& name) {
  constexpr std::uintmax_t most_looked_at = 1 << 20;
  constexpr std::size_t header = 46, flags = 8, name_length = 28;
  std::ifstream file(zip, std::ios::binary);
  const auto size = fs::file_size(zip), looked_at = std::min(size, most_looked_at);
  std::string end(looked_at, '\0');
  file.seekg(static_cast<std::streamoff>(size - looked_at));
  file.read(end.data(), static_cast<std::streamsize>(looked_at));
  const std::string_view text(end);
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (auto at = text.find("PK\1\2"); at != text.npos && at + header <= text.size();
       at = text.find("PK\1\2", at + 1)) {
    const std::size_t length = byte(at + name_length) + 256U * byte(at + name_length + 1);
    const bool is_it = text.substr(at + header, length).ends_with(name);
    if (is_it && (byte(at + flags) & 1U) != 0) return true;
  }
  return false;
}

Taken from_zip(const fs::path& handed_in, const fs::path& file) {
  Errand errand({.in_all = Milliseconds(10'000), .output_bytes = 1 << 20, .file_bytes = most_bytes + 1});
  const ScratchFolder packed, unpacked;
  const auto zip = open_copy(handed_in, packed.path());
  // An unpacker that cannot even be started is our fault, not the submission's.
  if (const auto control = errand.run({.argv = {unpacker, "--version"}, .readable = {unpacker_prefix}});
      !control.is_well())
    throw std::runtime_error(fmt::format("{} does not work (exit status {}): {}", unpacker.string(),
                                         control.exit_code, control.output));
  Ran list = list_zip(zip, errand);
  if (!list.is_well()) refuse("{} is not a zip file, or it is damaged", zip.filename().string());
  if (list.output.size() >= errand.limits().output_bytes) list.output = list_long_zip(zip, file, errand);
  const std::string pattern = choose_listed(list.output, zip, file);
  const std::string wanted = pattern == any_source ? ".cpp" : file.filename().string();
  expect_few(list, zip, errand, pattern, wanted);
  if (is_encrypted(zip, wanted))
    refuse("{} is encrypted; hand in one without a password", zip.filename().string());
  const auto unpacking = errand.run({.argv = {unpacker, "-E", "tar", "xf", zip, "--", pattern},
                                     .readable = {zip, unpacker_prefix},
                                     .writable = unpacked.path(),
                                     .folder = unpacked.path()});
  if (!unpacking.is_well())
    refuse("{} cannot be unpacked from {}: it is damaged, or larger than {} KiB", file.filename().string(),
           zip.filename().string(), most_bytes >> 10);
  open_all(unpacked.path());
  return from_folder(unpacked.path(), file, Zips::left_out);  // they could be in each other without an end
}

Taken from_folder(const fs::path& folder, const fs::path& file, Zips looks) {
  std::vector<fs::path> files, others, zips;
  fs::path closed;
  std::size_t entries = 0;
  std::error_code why;
  for (fs::recursive_directory_iterator at(folder, why), end; !why && at != end; at.increment(why)) {
    if (++entries > most_entries) refuse("there are more than {} files; hand in one", most_entries);
    if (at.depth() >= deepest) at.disable_recursion_pending();
    const bool is_wanted = at->path().filename() == file.filename();
    std::error_code gone;
    const auto kind = at->symlink_status(gone).type();
    if (kind == fs::file_type::symlink && is_wanted)
      refuse("{} is a link; hand in the file itself", file.filename().string());
    if (kind == fs::file_type::directory && at.recursion_pending() && !is_open(at->path())) {
      closed = at->path();
      at.disable_recursion_pending();
    }
    if (kind != fs::file_type::regular) continue;
    if (is_wanted) files.push_back(fs::relative(at->path(), folder));
    if (!is_wanted && is_source(at->path())) others.push_back(at->path());
    if (looks == Zips::looked_into && is_called_zip(at->path())) zips.push_back(at->path());
  }
  if (why) {
    errno = why.value();
    cannot_read(folder);
  }
  // The file could be in there, unless it is at its own place.
  if (!closed.empty() && std::ranges::find(files, file) == files.end()) expect_open(closed);
  if (const auto chosen = choose(files, file, folder)) return *chosen;
  std::ranges::sort(zips);
  if (zips.size() == 1) return from_zip(zips[0], file);
  if (zips.size() > 1)
    refuse("there are {} and {}; hand in one", zips[0].filename().string(), zips[1].filename().string());
  if (others.size() == 1) return {read(others[0])};
  refuse("{} was not handed in", file.filename().string());
}

}  // namespace

Taken take_submission(const fs::path& handed_in, const fs::path& file) {
  std::error_code none;
  const auto status = fs::status(handed_in, none);
  if (status.type() == fs::file_type::not_found) refuse("there is no file or folder {}", handed_in.string());
  expect_open(handed_in);
  if (fs::is_directory(status)) return from_folder(handed_in, file, Zips::looked_into);
  if (!fs::is_regular_file(status)) refuse_form(handed_in.string());
  if (is_zip(handed_in)) return from_zip(handed_in, file);
  if (is_called_zip(handed_in))
    refuse("{} is not a zip file, or it is damaged", handed_in.filename().string());
  return {read(handed_in)};
}

}  // namespace judge
