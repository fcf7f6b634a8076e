// Hint pages: a lab has one page per level, with a section for each part. A section begins with a line
// "**Part 2.**", "**Parts 1 and 2**" or "**第 2 部分。**"; the lines before the first section are for all
// parts.
#pragma once

#include <optional>
#include <string>

namespace distlab::loop {

// Removes the note at the end of a translation that names the page it translates.
std::string without_note_of_translation(std::string page);

// Returns the page's text for one part: the lines for all parts (without the title), then the section.
// Returns nothing when the page has no section for it.
std::optional<std::string> section_for_part(const std::string& page, int part);

// Returns the page with paragraphs broken at spaces to `columns` columns; code, lists and tables stay
// unchanged.
std::string reflowed(const std::string& page, int columns);

}  // namespace distlab::loop
