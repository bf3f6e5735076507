/* Data of files: constants of the binary, or in the folder resources of the FMU.
 *
 * CC_DATA(name, file): the bytes of a file of the sources as constant data, `extern const T name[]`, on a boundary of
 * 64 bytes.  The assembler reads the file, which takes no time and no text, and looks for it as for a header.
 *
 * CC_RESOURCE(name, file): `const unsigned *name`, the data of a file of the FMU's folder resources, which are there
 * while there are instances (fmi2/resources.h).  Without files, in WebAssembly and while a build checks an element, the
 * sources have it: what lies behind its header is constant data. */
#ifndef CC_DATA_H
#define CC_DATA_H

#define CC_TEXT_AS_IT_IS(text) #text
#define CC_TEXT_OF(text) CC_TEXT_AS_IT_IS(text)
#define CC_SYMBOL(name) CC_TEXT_OF(__USER_LABEL_PREFIX__) CC_TEXT_OF(name)

/* What stands in front of the name, and behind the bytes: private names, and in WebAssembly the size of the object. */
#define CC_DATA_END(name)
#if defined __APPLE__
#define CC_DATA_BEGIN(name) ".section __TEXT,__const\n.private_extern " CC_SYMBOL(name) "\n"
#elif defined _WIN32
#define CC_DATA_BEGIN(name) ".section .rdata,\"dr\"\n"
#elif defined __wasm__
#define CC_DATA_BEGIN(name) ".section .rodata." CC_SYMBOL(name) ",\"\",@\n.hidden " CC_SYMBOL(name) "\n"
#undef CC_DATA_END
#define CC_DATA_END(name) ".type " CC_SYMBOL(name) ",@object\n.size " CC_SYMBOL(name) ", . - " CC_SYMBOL(name) "\n"
#else
#define CC_DATA_BEGIN(name) ".section .rodata\n.hidden " CC_SYMBOL(name) "\n"
#endif

#define CC_DATA_LABEL(name) ".globl " CC_SYMBOL(name) "\n.balign 64\n" CC_SYMBOL(name) ":\n"
#define CC_DATA_BEHIND(name, file, header)                                                                             \
    CC_DATA_TEXT(CC_DATA_BEGIN(name) CC_DATA_LABEL(name), file, CC_TEXT_OF(header), CC_DATA_END(name))
#define CC_DATA_TEXT(before, file, header, behind)                                                                     \
    __asm__(before ".incbin \"" file "\"," header "\n" behind ".text\n")
#define CC_DATA(name, file) CC_DATA_BEHIND(name, file, 0)

#if defined __wasm__ || defined CC_WITHOUT_FILES
#define CC_DATA_OF_RESOURCE(name, file)                                                                                \
    CC_DATA_BEHIND(name##_bytes, file, 64); /* CC_RESOURCE_HEADER */                                                   \
    __attribute__((visibility("hidden"))) extern const unsigned name##_bytes[];                                        \
    const unsigned *name = name##_bytes
#define CC_RESOURCE(name, file) CC_DATA_OF_RESOURCE(name, file)
#else
#define CC_RESOURCE(name, file) const unsigned *name
#endif

#endif
