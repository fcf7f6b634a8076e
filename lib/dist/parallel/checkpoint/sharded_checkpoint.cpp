// Saving: every rank tells the others its boxes; from the same list each computes the same plan
// (save_plan.h); a thread writes the file; finish() agrees on success, and rank 0 reads the index back and
// puts the save in force.
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "dist/check/copies.h"
#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/whole_file.h"
#include "dist/group/check_same.h"
#include "dist/nn/safetensors.h"
#include "dist/parallel/checkpoint/save_plan.h"
#include "dist/parallel/checkpoint/saved_index.h"

namespace dist {

namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
  WholeFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish(true);
}

// Ranks that have the same box have the same values, or the checkpoint would be that of no model. Every rank
// tells sketches of those boxes. Collective; the error is the same on all ranks.
void compare_copies(const Pieces& pieces, const SavePlan& plan, const ProcessGroup& group, CallSite at) {
  if (!plan.any_copies) return;
  std::string own;
  const auto add = [&own](const Piece& piece, const check::Sketch& sketch) {
    Json numbers = {sketch.norm, sketch.tolerance};
    for (const float projection : sketch.projections) numbers.push_back(projection);
    own += json_text(Json{piece.name, piece.offset, piece.data.shape()}) + "\t" + json_text(numbers) + "\n";
  };
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (plan.has_copies[i] && !pieces[i].may_differ) add(pieces[i], check::sketch_of(pieces[i].data));
  const auto all = all_gather_object(own, {.group = group}, at);
  std::map<std::string, std::pair<std::size_t, std::vector<float>>> first;  // by box: a rank, and its numbers
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::istringstream lines(all[r]);
    for (std::string box, numbers; std::getline(lines, box, '\t') && std::getline(lines, numbers);) {
      const auto now = parse_json(numbers).get<std::vector<float>>();
      const auto& [rank, had] = first.try_emplace(box, r, now).first->second;
      const float most = had[1] * std::max(had[0], now[0]);
      if (std::ranges::equal(had, now, [&](float x, float y) { return !(std::abs(x - y) > most); })) continue;
      fail(Errc::mismatch,
           "rank {} and rank {} have other values of \"{}\", norm {:.6g} and {:.6g}, where both say that "
           "they have the "
           "same elements of it: call broadcast_state(model) if they are copies, give different parameters "
           "different names, or pass what pieces_of() says",
           rank, r, parse_json(box)[0].get<std::string>(), had[0], now[0]);
    }
  }
}

// What a save says is there is there, before the one before it is removed.
void check_written(const fs::path& save) {
  for (const auto& [name, tensor] : read_index(save))
    for (const SavedPiece& piece : tensor.pieces)
      if (!fs::is_regular_file(save / piece.file))
        fail(Errc::resource, "{} is gone, which has a piece of \"{}\"", (save / piece.file).string(), name);
}

// The folders of all saves but one. Entries with other names, and links, are not of this library.
std::vector<fs::path> saves_but(const fs::path& folder, std::string_view kept) {
  std::vector<fs::path> saves;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string found = entry.path().filename().string();
    if (found != kept && save_number(found) && entry.symlink_status().type() == fs::file_type::directory)
      saves.push_back(entry.path());
  }
  return saves;
}

// Makes the folder of a new save, with a number that no entry has. Removes first what killed saves have left:
// the disk may be full of it.
fs::path made_save(const fs::path& folder) {
  fs::create_directories(folder);
  std::int64_t number = 1;
  if (has_sharded(folder)) {
    const std::string kept = save_in_force(folder);
    number = *save_number(kept) + 1;
    for (const fs::path& save : saves_but(folder, kept)) fs::remove_all(save);
  }
  const auto named = [&] { return folder / fmt::format("save-{:06}", number); };
  while (fs::exists(fs::symlink_status(named()))) ++number;
  fs::create_directory(named());
  return named();
}

// The saves of this process that have begun and are not finished, by folder and rank (ranks can be threads).
class UnderWay {
 public:
  void begin(ShardedSave* save, const fs::path& folder, int rank) {
    const std::lock_guard lock(mutex_);
    saves_.push_back({save, folder, rank});
  }
  void end(const ShardedSave* save) {
    const std::lock_guard lock(mutex_);
    std::erase_if(saves_, [save](const Entry& entry) { return entry.save == save; });
  }
  ShardedSave* of(const fs::path& folder, int rank) {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(
        saves_, [&](const Entry& entry) { return entry.folder == folder && entry.rank == rank; });
    return at == saves_.end() ? nullptr : at->save;
  }

 private:
  struct Entry {
    ShardedSave* save;
    fs::path folder;
    int rank;
  };
  std::mutex mutex_;
  std::vector<Entry> saves_;
};
UnderWay& under_way() {
  static UnderWay all;
  return all;
}

}  // namespace

struct ShardedSave::State {
  fs::path folder, save;
  bool is_finished = false;
  ProcessGroup group;
  CallSite at;
  Json tensors;
  nn::StateDict own;
  std::thread writer;
  std::string problem;  // of this rank; read after the writer has ended

  void write(int rank) {
    try {
      nn::save_safetensors(save / file_of(rank), own);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
};

ShardedSave::ShardedSave(const fs::path& asked, const Pieces& pieces, const ShardedCheckpointOptions& options,
                         Caller at)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  const fs::path folder = one_spelling(asked);
  check_same("save_sharded", fmt::format("the folder {}", folder.string()), options.group, at);
  s.folder = folder, s.group = options.group, s.at = at;
  const int rank = get_rank(s.group, at);
  finish_before(folder, rank);
  SavePlan plan = plan_save(all_gather_object(told(pieces), {.group = s.group}, at), rank);
  compare_copies(pieces, plan, s.group, at);
  s.tensors = std::move(plan.tensors);
  std::string save;
  if (rank == 0) {
    try {
      save = made_save(folder).string();
    } catch (const fs::filesystem_error& error) {
      s.problem = fmt::format("{}: {}", error.path1().string(), error.code().message());
    } catch (const Error& error) {
      s.problem = error.what();
    }
  }
  broadcast_object(save, s.group ? s.group.global_rank(0) : 0, {.group = s.group}, at);
  s.save = save;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!plan.own_keys[i].empty()) s.own.push_back({plan.own_keys[i], pieces[i].data.to(cpu).clone()});
  if (!save.empty()) s.writer = std::thread([&s, rank] { s.write(rank); });
  under_way().begin(this, folder, rank);
}

ShardedSave::~ShardedSave() {
  under_way().end(this);
  if (state_->writer.joinable()) state_->writer.join();
}

// Saves to one folder queue: each is finished before the next one begins, on every rank.
void ShardedSave::finish_before(const fs::path& folder, int rank) {
  if (ShardedSave* const before = under_way().of(folder, rank)) before->finish();
}

void ShardedSave::finish() {
  State& s = *state_;
  if (s.is_finished) return;
  under_way().end(this);
  s.is_finished = true;
  if (s.writer.joinable()) s.writer.join();
  const auto problems = all_gather_object(s.problem, {.group = s.group}, s.at);
  const bool is_first = get_rank(s.group, s.at) == 0;
  const auto failed = std::ranges::find_if(problems, [](const auto& text) { return !text.empty(); });
  if (failed != problems.end()) {
    std::error_code ignored;
    if (is_first && !s.save.empty()) fs::remove_all(s.save, ignored);
    fail(Errc::resource, "saving {}: rank {}: {}{}", s.folder.string(), failed - problems.begin(), *failed,
         has_sharded(s.folder) ? "; the previous save is still in force" : "");
  }
  std::string problem;
  if (is_first) {
    try {
      write_text(s.save / "index.json",
                 json_text(Json{{"format", "distlab sharded 1"}, {"tensors", s.tensors}}, 1));
      check_written(s.save);
      write_text(s.folder / in_force_file, json_text(Json{{"save", s.save.filename().string()}}) + "\n");
      for (const fs::path& save : saves_but(s.folder, s.save.filename().string())) fs::remove_all(save);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  broadcast_object(problem, s.group ? s.group.global_rank(0) : 0, {.group = s.group}, s.at);
  if (!problem.empty()) fail(Errc::resource, "saving {}: {}", s.folder.string(), problem);
}

void save_sharded(const fs::path& folder, const Pieces& pieces, const ShardedCheckpointOptions& options,
                  Caller at) {
  ShardedSave(folder, pieces, options, at).finish();
}

bool has_sharded(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / in_force_file, ignored);
}

bool has_sharded(const fs::path& folder, std::string_view tensor) {
  return read_index(folder / save_in_force(folder)).contains(tensor);
}

}  // namespace dist
