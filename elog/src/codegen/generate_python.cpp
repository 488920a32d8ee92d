// SPDX-License-Identifier: MIT
//
// elog gen --lang python: a module that uses ctypes.
#include <vector>

#include "codegen/generate.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// Keywords, the module's own names, and the members of every enumeration class.
constexpr std::string_view python_reserved_words[] = {
    "False",        "None",
    "True",         "and",
    "as",           "assert",
    "async",        "await",
    "break",        "class",
    "continue",     "def",
    "del",          "elif",
    "else",         "except",
    "finally",      "for",
    "from",         "global",
    "if",           "import",
    "in",           "is",
    "lambda",       "nonlocal",
    "not",          "or",
    "pass",         "raise",
    "return",       "try",
    "while",        "with",
    "yield",        "atexit",
    "ctypes",       "enum",
    "mmap",         "struct",
    "warnings",     "str",
    "bytes",        "len",
    "min",          "sum",
    "name",         "value",
    "mro",          "Exception",
    "max",          "zip",
    "isinstance",   "property",
    "list",         "any",
    "names",        "values",
    "tuple",        "ValueError",
    "TypeError",    "bytearray",
    "_Definition",  "_Piece",
    "_Event",       "_gate",
    "_page",        "_provider",
    "_library",     "_schema",
    "_encode",      "_emit",
    "_cut_longest", "_PAYLOAD_SIZE_MAX",
    "_definition",  "_number",
    "_unregister",  "_is_heard",
};

constexpr std::string_view registration = R"(

class _Definition(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("event_count", ctypes.c_uint32),
        ("gate", ctypes.c_void_p),
        ("gate_size", ctypes.c_size_t),
        ("schema", ctypes.c_void_p),
        ("schema_size", ctypes.c_size_t),
    ]


class _Piece(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


_library = ctypes.CDLL("libeventlog.so.0")
_library.eventlog_provider_register.argtypes = [ctypes.POINTER(_Definition)]
_library.eventlog_provider_register.restype = ctypes.c_void_p
_library.eventlog_provider_unregister.argtypes = [ctypes.c_void_p]
_library.eventlog_provider_unregister.restype = None
_library.eventlog_emit_pieces.argtypes = [
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.POINTER(_Piece),
    ctypes.c_size_t,
    ctypes.c_uint32,
]
_library.eventlog_emit_pieces.restype = None
_library.eventlog_has_listener.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
_library.eventlog_has_listener.restype = ctypes.c_bool

# One word for each event, and room for counters. The library maps shared memory over it: these
# pages are nobody else's.
_page = mmap.mmap(-1, max(mmap.PAGESIZE, 8192))
_gate = (ctypes.c_uint32 * 1024).from_buffer(_page)
_definition = _Definition(
    ctypes.sizeof(_Definition),
    _EVENT_COUNT,
    ctypes.addressof(_gate),
    len(_page),
    ctypes.cast(_schema, ctypes.c_void_p),
    len(_schema),
)
_provider = _library.eventlog_provider_register(ctypes.byref(_definition))


def _unregister():
    global _provider
    provider, _provider = _provider, None
    _library.eventlog_provider_unregister(provider)


atexit.register(_unregister)


def _is_heard(event):
    """Whether somebody listens to an event whose gate is open: it may be so without anybody."""
    return _gate[event] & 0x7FFEFFFF != 0 or _library.eventlog_has_listener(_provider, event)


_PAYLOAD_SIZE_MAX = 65536 - 24


class _Event:
    """How the fields of an event stand in its payload.

    Each is (name, code of the module struct or "text" or "bytes", count, offset, place of the byte
    that says whether it has a value, or None).
    """

    def __init__(self, number, name, fixed_size, cuts_texts, fields):
        self.number = number
        self.name = name
        self.fixed_size = fixed_size
        self.cuts_texts = cuts_texts
        self.fields = fields


def _cut_longest(parts, fixed_size):
    """Cuts the longest so that all fit into a record, texts between two characters of UTF-8."""
    fixed_size += sum(is_text for _, is_text in parts)
    low, high = 0, _PAYLOAD_SIZE_MAX + 1
    while high - low > 1:
        middle = (low + high) // 2
        if fixed_size + sum(min(len(part), middle) for part, _ in parts) <= _PAYLOAD_SIZE_MAX:
            low = middle
        else:
            high = middle
    for i, (part, is_text) in enumerate(parts):
        if len(part) > low:
            size = low
            while is_text and size > 0 and part[size] & 0xC0 == 0x80:
                size -= 1
            parts[i] = (part[:size], is_text)


def _encode(event, values):
    """The payload, and whether texts of it have been cut."""
    fixed = bytearray(event.fixed_size)
    parts = []
    words = []
    for (name, code, count, offset, presence), value in zip(event.fields, values):
        if presence is not None:
            fixed[presence] = value is not None
        if value is None and (presence is not None or code == "text"):
            continue
        if code == "text":
            parts.append((value.encode("utf-8", "surrogateescape"), True))
            words.append(offset)
        elif code == "bytes":
            parts.append((bytes(memoryview(value)), False))
            words.append(offset)
        elif code == "s":
            text = value.encode() if isinstance(value, str) else bytes(memoryview(value))
            if len(text) > count:
                raise ValueError(f"{name} has more than {count} bytes")
            struct.pack_into(f"={count}s", fixed, offset, text)
        elif count == 1:
            struct.pack_into("=" + code, fixed, offset, value)
        else:
            struct.pack_into(f"={count}{code}", fixed, offset, *value)
    size = len(fixed) + sum(len(part) + is_text for part, is_text in parts)
    cut = event.cuts_texts and size > _PAYLOAD_SIZE_MAX
    if cut:
        _cut_longest(parts, len(fixed))
    payload = bytearray(fixed)
    for offset, (part, is_text) in zip(words, parts):
        size = len(part) + is_text
        if size != 0:
            distance = len(payload) - offset - 4
            struct.pack_into("=I", payload, offset, (size & 0xFFFF) << 16 | distance & 0xFFFF)
        payload += part + b"\0" * is_text
    return bytes(payload), cut


def _emit(event, *values):
    # That somebody listens must not make a program fail: what cannot be encoded is a warning.
    try:
        payload, cut = _encode(event, values)
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
        warnings.warn(f"{event.name} is not emitted: {error}", RuntimeWarning, stacklevel=3)
        return
    piece = _Piece(payload, len(payload))
    _library.eventlog_emit_pieces(_provider, event.number, ctypes.byref(piece), 1, 1 if cut else 0)
)";

/// The type's code in the module struct; "text" or "bytes" for fields of variable size.
std::string_view code_of(field_type type) {
    switch (type) {
        case field_type::boolean:
            return "?";
        case field_type::character:
            return "s";
        case field_type::signed_8:
            return "b";
        case field_type::signed_16:
            return "h";
        case field_type::signed_32:
            return "i";
        case field_type::signed_64:
            return "q";
        case field_type::unsigned_8:
            return "B";
        case field_type::unsigned_16:
            return "H";
        case field_type::unsigned_32:
            return "I";
        case field_type::unsigned_64:
            return "Q";
        case field_type::float_32:
            return "f";
        case field_type::float_64:
            return "d";
        case field_type::text:
            return "text";
        case field_type::bytes:
            return "bytes";
    }
    return "";
}

/// Text for a docstring.
std::string doc_text(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' || text[i] == '"') {
            text.insert(i++, 1, '\\');
        }
    }
    return text;
}

struct python_event_names {
    std::string emit;
    std::string enabled;
    std::string description;
    std::vector<std::string> fields;
};

class python_generator {
  public:
    explicit python_generator(const located_schema& source)
        : schema_(source.schema), scope_(python_reserved_words) {
        scope_.reserve("_EVENT_COUNT");
    }

    std::string generate();

  private:
    void assign_names();
    void write_head();
    void write_enumeration(std::size_t index);
    void write_schema();
    void write_event(std::size_t id);
    [[nodiscard]] std::string hint_of(const field_schema& field) const;

    const provider_schema& schema_;
    unique_names scope_;
    std::vector<std::string> enumerations_;
    std::vector<python_event_names> events_;
    source_writer out_;
};

void python_generator::assign_names() {
    for (const enumeration_schema& enumeration : schema_.enumerations) {
        enumerations_.push_back(scope_.make(camel_case(enumeration.name)));
    }
    for (const event_schema& event : schema_.events) {
        python_event_names names;
        names.emit = scope_.make(event.name);
        names.enabled = scope_.make(names.emit + "_enabled");
        names.description = scope_.make("_" + names.emit);
        unique_names parameters(python_reserved_words);
        parameters.reserve(names.description);
        for (const field_schema& field : event.fields) {
            names.fields.push_back(parameters.make(field.name));
        }
        events_.push_back(std::move(names));
    }
}

void python_generator::write_head() {
    out_.line("# Provider {}{}{}", schema_.name, schema_.description.empty() ? "" : ": ",
              comment_text(schema_.description));
    out_.line("#");
    out_.line("# Made by elog gen --lang python. Change the schema and make it anew; this is "
              "overwritten.");
    out_.line("# The hash of the schema is 0x{:016x}.", schema_.hash);
    out_.line("#");
    out_.line("# The program that imports it is published. Optional fields and texts may be None. "
              "Where what it");
    out_.line("# takes to emit an event is expensive, ask first: if EVENT_enabled(): EVENT(...)");
    out_.line(R"("""Provider {}""")", schema_.name);
    out_.line();
    for (const char* module : {"atexit", "ctypes", "enum", "mmap", "struct", "warnings"}) {
        out_.line("import {}", module);
    }
}

void python_generator::write_enumeration(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    if (enumeration.values.empty()) {
        return;
    }
    const auto type = type_of_enumeration(schema_, index).value_or(field_type::signed_64);
    out_.line();
    out_.line();
    out_.line("class {}(enum.{}):", enumerations_[index],
              enumeration.combines ? "IntFlag" : "IntEnum");
    unique_names names(python_reserved_words);
    for (const auto& [value, name] : enumeration.values) {
        // Names between underscores have special meanings in enumerations of Python.
        const bool is_special = name.front() == '_';
        out_.line("    {} = {}", names.make((is_special ? "V" : "") + upper_case(name)),
                  number_text(value, type));
    }
}

void python_generator::write_schema() {
    out_.line();
    out_.line();
    out_.line("_EVENT_COUNT = {}", schema_.events.size());
    out_.line("_schema = bytes([");
    out_.append(format_byte_list(schema_.binary, 4));
    out_.line();
    out_.line("])");
}

std::string python_generator::hint_of(const field_schema& field) const {
    std::string_view hint = "int";
    switch (field.type) {
        case field_type::boolean:
            hint = "bool";
            break;
        case field_type::float_32:
        case field_type::float_64:
            hint = "float";
            break;
        case field_type::text:
            hint = "str | None";
            break;
        case field_type::character:
            hint = "str | bytes";
            break;
        case field_type::bytes:
            hint = "bytes";
            break;
        default:
            break;
    }
    std::string made(hint);
    if (field.count != 1 && field.type != field_type::character) {
        made = fmt::format("list[{}]", hint);
        made += field.type == field_type::unsigned_8 ? " | bytes" : "";
    }
    return made + (is_optional(field) && field.type != field_type::text ? " | None" : "");
}

void python_generator::write_event(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const python_event_names& names = events_[id];
    out_.line();
    out_.line();
    out_.line("{} = _Event({}, \"{}:{}\", {}, {}, [", names.description, id, schema_.name,
              event.name, event.fixed_size, event.cuts_texts ? "True" : "False");
    std::string parameters;
    std::string arguments;
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        out_.line(R"(    ("{}", "{}", {}, {}, {}),)", field.name, code_of(field.type), field.count,
                  field.offset,
                  is_optional(field) ? fmt::format("{}", field.presence) : std::string("None"));
        parameters += parameters.empty() ? "" : ", ";
        parameters += fmt::format("{}: \"{}\"", names.fields[i], hint_of(field));
        arguments += ", " + names.fields[i];
    }
    out_.line("])");
    out_.line();
    out_.line();
    out_.line("def {}():", names.enabled);
    out_.line(R"(    """Whether anyone listens to {} right now.""")", event.name);
    out_.line("    return _gate[{}] != 0 and _is_heard({})", id, id);
    out_.line();
    out_.line();
    out_.line("{}", wrap(fmt::format("def {}({}):", names.emit, parameters)));
    const std::string sentence = describe_item(event);
    std::string doc =
        fmt::format("Emits {}.{}{}", event.name, sentence.empty() ? "" : " ", sentence);
    bool any = false;
    for (const field_schema& field : event.fields) {
        const std::string about = describe_item(field);
        if (!about.empty()) {
            doc += any ? "\n    " : "\n\n    ";
            doc += about;
            any = true;
        }
    }
    out_.line(R"(    """{}{}""")", doc_text(doc), any ? "\n    " : "");
    out_.line("    if _gate[{}] and _is_heard({}):", id, id);
    out_.line("{}", wrap(fmt::format("        _emit({}{})", names.description, arguments)));
}

std::string python_generator::generate() {
    assign_names();
    write_head();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(i);
    }
    write_schema();
    out_.append(registration);
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event(id);
    }
    return out_.take();
}

}  // namespace

std::string generate_python(const located_schema& source) {
    return python_generator(source).generate();
}

}  // namespace elog
